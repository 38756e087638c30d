import { existsSync } from "node:fs";
import { mkdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startAnsweringServer } from "../helpers/answering-server.js";
import type { AnsweringServer } from "../helpers/answering-server.js";
import { comparableRows } from "../helpers/comparable-rows.js";
import { enrichUntilKilled as enrich, mostRepeated } from "../helpers/killed-run.js";
import { seeded } from "../helpers/seeded.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

/** `REPUTE_TEST_KILLS=500` for the long version; by default 24 over the four formats. */
const kills = Math.ceil(Number(process.env["REPUTE_TEST_KILLS"] ?? "24") / 4);

const rows = 8_000;
const distinct = 7_200;

describe("a run that is killed repeatedly", () => {
  it.each(["csv", "csv.gz", "ndjson", "ndjson.gz"])(
    "ends with the rows of an undisturbed run and repeats no paid request: %s",
    { timeout: 600_000 },
    async (extension) => {
      const folder = await temporaryFolder();
      const server = await serving();
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
});

describe("the end of a run", () => {
  it("is repeated if it was interrupted between the output's name and its manifest", async () => {
    const folder = await temporaryFolder();
    const server = await serving();
    const input = join(folder, "in.csv");
    await writeFile(input, "domain\na.example.com\nb.example.com\n");
    const out = join(folder, "out.csv");
    // A folder in place of the manifest prevents its writing.
    await mkdir(`${out}.manifest.json`);
    expect(await enrich(server, input, out, [])).toBe(1);
    expect(existsSync(out)).toBe(true);
    await rmdir(`${out}.manifest.json`);
    expect(await enrich(server, input, out, ["--resume"])).toBe(0);
    expect(comparableRows(await readFile(out), "csv")).toHaveLength(3);
    expect(JSON.parse(await readFile(`${out}.manifest.json`, "utf8"))).toMatchObject({
      output: { rows: 2 },
      resumed: 1,
    });
    expect(server.total).toBe(2);
  });

  it("includes rows added to the input while the run was interrupted", async () => {
    const folder = await temporaryFolder();
    const server = await serving();
    const input = join(folder, "in.csv");
    const lines = Array.from({ length: 3_000 }, (_, n) => `n${n}.example.com\n`);
    await writeFile(input, `domain\n${lines.slice(0, 2_000).join("")}`);
    const out = join(folder, "out.csv");
    expect(await enrich(server, input, out, [], 900)).toBeNull();
    await writeFile(input, `domain\n${lines.join("")}`);
    expect(await enrich(server, input, out, ["--resume"])).toBe(0);
    expect(comparableRows(await readFile(out), "csv")).toHaveLength(3_001);
    expect(JSON.parse(await readFile(`${out}.manifest.json`, "utf8"))).toMatchObject({
      input: { grew_while_interrupted: true, rows: 3_000 },
    });
  });
});

async function serving(): Promise<AnsweringServer> {
  const server = await startAnsweringServer();
  onTestFinished(() => server.close());
  return server;
}

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
