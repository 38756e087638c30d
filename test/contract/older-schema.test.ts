import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "csv-parse/sync";
import { stringify } from "csv-stringify/sync";
import { expect, it } from "vitest";
import { columns } from "../../src/core/columns.js";
import type { Manifest } from "../../src/run/types.js";
import { verifyOutput } from "../../src/retry/verify-output.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { queryDuckdb } from "./warehouse-readers.js";

const samples = fileURLToPath(new URL("../../samples/", import.meta.url));

/** Outputs of schema version 1, made by removing newer columns from current ones. */
const texts = [
  { output: "out.csv", flags: [] },
  { output: "out.tsv", flags: [] },
  { output: "out.ndjson", flags: [] },
  { output: "flat.ndjson", flags: ["--shape", "flat"] },
  { output: "ecs.json", flags: ["--to", "ecs"] },
] as const;

it.each(texts)("verifies $output $flags of schema version 1 as far as possible", async (text) => {
  const path = join(await olderOutput(text.output, text.flags), text.output);
  const { audit, differences } = await verifyOutput(path, "rep_");
  expect([audit.rows, audit.verdicts, differences]).toEqual([24, null, []]);
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.toSpliced(5, 1).join("\n"));
  const changed = await verifyOutput(path, "rep_");
  expect(changed.differences).toContain("rows: the manifest says 24, the file has 23");
});

it("reports that an output of schema version 1 has no verdicts", async () => {
  const cwd = await olderOutput("out.csv", []);
  expect(await runRepute(["verify", "out.csv"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /24 rows.*matches its manifest \(schema version 1, no verdicts\)/,
    ),
  });
  const json = await runRepute(["verify", "out.csv", "--json"], { cwd });
  expect(JSON.parse(json.stdout)).toMatchObject({ rows: 24, verdicts: null, differences: [] });
});

it.each(texts.slice(0, 4))(
  "does not retry $output of schema version 1, and says what to do",
  async ({ output, flags }) => {
    const cwd = await olderOutput(output, flags);
    const args = ["retry", output, "-o", `again.${output}`, "--local"];
    const { code, stderr } = await runRepute(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /has schema version 1, which lacks rep_verdict[^]*run enrich[^]*--cache/,
    );
  },
);

it("a table of schema version 1 is verified without the column", async () => {
  const cwd = await temporaryFolder();
  const output = "duckdb:intel.duckdb?table=enriched";
  await enrich(output, [], cwd);
  await queryDuckdb(
    "DROP VIEW enriched_newest; ALTER TABLE enriched DROP COLUMN rep_verdict",
    join(cwd, "intel.duckdb"),
  );
  await makeOlder(join(cwd, "intel.duckdb.enriched.manifest.json"));
  expect(await runRepute(["verify", output], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("24 rows, matches its manifest (schema version 1"),
  });
});

it("a Parquet file of schema version 1 is verified without the column", async () => {
  const cwd = await temporaryFolder();
  await enrich("new.parquet", [], cwd);
  const [from, to] = [join(cwd, "new.parquet"), join(cwd, "old.parquet")];
  await queryDuckdb(`COPY (SELECT * EXCLUDE (rep_verdict) FROM '${from}') TO '${to}'`);
  const manifest = await readFile(`${from}.manifest.json`, "utf8");
  await writeFile(`${to}.manifest.json`, manifest);
  await makeOlder(`${to}.manifest.json`, await readFile(to));
  expect(await runRepute(["verify", "old.parquet"], { cwd })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("(schema version 1, no verdicts)"),
  });
});

it("an output of a newer schema version is not verified, and the error says why", async () => {
  const cwd = await temporaryFolder();
  await enrich("out.csv", [], cwd);
  const path = join(cwd, "out.csv.manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  await writeFile(path, JSON.stringify({ ...manifest, schema_version: 99 }));
  const { code, stderr } = await runRepute(["verify", "out.csv"], { cwd });
  expect(code).toBe(2);
  expect(stderr).toMatch(/has schema version 99; this version of repute reads up to \d+$/m);
});

/** A folder with an output without verdicts, and a matching manifest. */
async function olderOutput(output: string, flags: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  await enrich(output, flags, cwd);
  const path = join(cwd, output);
  const text = asFirstVersion(await readFile(path, "utf8"));
  await writeFile(path, text);
  await makeOlder(`${path}.manifest.json`, Buffer.from(text));
  return cwd;
}

/** An output without the columns added after schema version 1. */
function asFirstVersion(text: string): string {
  const [header = ""] = text.split("\n");
  if (header.startsWith("{")) return text.replaceAll(/"(?:rep_)?verdict":(?:null|"\w+"),/g, "");
  const delimiter = header.includes("\t") ? "\t" : ",";
  const newer = new Set(columns.flatMap(({ name, since }) => (since > 1 ? [`rep_${name}`] : [])));
  const records = parse(text, { delimiter });
  const kept = records.map((cells) =>
    cells.filter((_, index) => !newer.has(records[0]?.[index] ?? "")),
  );
  return stringify(kept, { delimiter });
}

async function makeOlder(path: string, content?: Buffer): Promise<void> {
  const { verdicts: _, ...manifest } = JSON.parse(await readFile(path, "utf8")) as Manifest;
  const file =
    content === undefined
      ? {}
      : { bytes: content.length, sha256: createHash("sha256").update(content).digest("hex") };
  const output = { ...manifest.output, ...file };
  await writeFile(path, JSON.stringify({ ...manifest, schema_version: 1, output }));
}

async function enrich(output: string, flags: readonly string[], cwd: string): Promise<void> {
  const input = join(samples, "indicators.csv");
  const args = ["enrich", input, "-o", output, "--local", "--quiet", "--fail-on", "never"];
  expect(await runRepute([...args, ...flags], { cwd })).toMatchObject({ code: 0 });
}
