import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import { enrichKilled, mostRepeated } from "../../../helpers/enrich-killed.js";
import { runRepute } from "../../../helpers/run-repute.js";
import { seeded } from "../../../helpers/seeded.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** `REPUTE_TEST_KILLS=500` for the long version. */
const kills = Math.ceil(Number(process.env["REPUTE_TEST_KILLS"] ?? "10") / 2);

const rows = 6_000;

it.each([
  ["rows", "in.csv", "csv"],
  ["rows", "in.ndjson", "ndjson.gz"],
  ["es-bulk", "in.csv", "ndjson.gz"],
  ["stix", "in.csv", "json.gz"],
])(
  "a run that is killed repeatedly ends with the rows of an undisturbed run and repeats no paid request: %s of %s to %s",
  { timeout: 600_000 },
  async (to, input, extension) => {
    const cwd = await temporaryFolder();
    const server = await startAnsweringServer();
    await writeFile(join(cwd, input), inputOf(input));
    const shape = to === "rows" ? [] : ["--to", to];
    const calm = [input, "-o", `calm.${extension}`, ...shape];
    expect(await enrichKilled({ server, cwd, args: calm, kill: null })).toMatchObject({ code: 0 });
    const distinct = server.asked.size;
    expect(server.total).toBe(distinct);

    const random = seeded(to.length * 7919 + extension.length + kills);
    const out = `out.${extension}`;
    const args = [input, "-o", out, ...shape, "--resume"];
    let killed = 0;
    for (let code: number | null = null; code === null;) {
      // Later sessions have less to do, so the kills are spread over the whole run.
      const requests = 1 + Math.floor(random() * ((2 * distinct) / kills));
      const kill = killed < kills ? { requests, ms: 0 } : null;
      ({ code } = await enrichKilled({ server, cwd, args, kill }));
      if (code === null) killed++;
    }

    expect(killed).toBeGreaterThan(kills / 2);
    const contents = async (name: string): Promise<unknown> => {
      const bytes = await readFile(join(cwd, name));
      return to === "rows" ? comparableRows(bytes, extension) : documentsOf(gunzipSync(bytes), to);
    };
    expect(await contents(out)).toEqual(await contents(`calm.${extension}`));
    expect(server.total - 2 * distinct).toBeLessThanOrEqual(killed * mostRepeated);
    expect(existsSync(join(cwd, `${out}.state`))).toBe(false);
    expect(existsSync(join(cwd, `${out}.part`))).toBe(false);
    const verified = await runRepute(["verify", out, "--quiet"], { cwd });
    expect(verified).toMatchObject({ code: 0, stderr: "" });
  },
);

/** Every tenth row repeats an earlier one, and some are no names. */
function inputOf(name: string): string {
  const domains = Array.from({ length: rows }, (_, n) =>
    n % 100 === 7 ? "setup.exe" : `host-${n % 10 === 9 ? n % 1_000 : n}.example.com`,
  );
  return name.endsWith(".csv")
    ? `n,domain\n${domains.map((domain, n) => `${n},${domain}\n`).join("")}`
    : domains.map((domain, n) => `${JSON.stringify({ n, domain })}\n`).join("");
}

/** Without what may differ: time and source of an answer, and the bundle's own name. */
function documentsOf(bytes: Buffer, to: string): readonly unknown[] {
  const text = bytes
    .toString()
    .replace(/"bundle--[^"]+"/, '"bundle"')
    .replaceAll(/"source":"(?:live|duplicate)"/g, '"source":""')
    .replaceAll(/"(@timestamp|looked_up_at|modified)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"time":\d+/g, '"time":0');
  return (to === "stix" ? [text] : text.trimEnd().split("\n")).map((document): unknown =>
    JSON.parse(document),
  );
}
