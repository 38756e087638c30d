import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import { enrichUntilKilled as enrich, mostRepeated } from "../../../helpers/killed-run.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** `REPUTE_TEST_KILLS=500` for the long version. */
const kills = Math.ceil(Number(process.env["REPUTE_TEST_KILLS"] ?? "10") / 2);

const rows = 6_000;
const distinct = 5_400;

it.each(["csv", "ndjson.gz"])(
  "a run that is killed repeatedly ends with the rows of an undisturbed run and repeats no paid request: %s",
  { timeout: 600_000 },
  async (extension) => {
    const folder = await temporaryFolder();
    const server = await startAnsweringServer();
    const input = join(folder, extension.startsWith("csv") ? "in.csv" : "in.ndjson");
    await writeFile(input, inputOf(extension));

    const calm = join(folder, `calm.${extension}`);
    expect(await enrich(server, input, calm, [])).toBe(0);
    expect(server.asked.size).toBe(distinct);
    expect(server.total).toBe(distinct);

    const random = seeded(extension.length * 7919 + kills);
    const out = join(folder, `out.${extension}`);
    const before = server.total;
    let killed = 0;
    for (let code: number | null = null; code === null;) {
      // Later sessions have less to do, so the kills are spread over the whole run.
      const after = 1 + Math.floor(random() * ((2 * distinct) / kills));
      code = await enrich(server, input, out, ["--resume"], killed < kills ? after : null);
      if (code === null) killed++;
    }

    expect(killed).toBeGreaterThan(kills / 2);
    expect(comparableRows(await readFile(out), extension)).toEqual(
      comparableRows(await readFile(calm), extension),
    );
    expect(server.total - before - distinct).toBeLessThanOrEqual(killed * mostRepeated);
    expect(existsSync(`${out}.state`)).toBe(false);
    expect(existsSync(`${out}.part`)).toBe(false);
  },
);

function inputOf(extension: string): string {
  // Every tenth row repeats an earlier one.
  const names: string[] = [];
  let fresh = 0;
  for (let n = 0; n < rows; n++) {
    names.push(n % 10 === 9 ? names[(n * 7) % names.length]! : `host-${fresh++}.example.com`);
  }
  return extension.startsWith("csv")
    ? `n,domain\n${names.map((name, n) => `${n},${name}\n`).join("")}`
    : names.map((domain, n) => `${JSON.stringify({ n, domain })}\n`).join("");
}
