import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { verifyOutput } from "../../src/earlier/verify-output.js";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { runInProcess } from "../unit/cli/run-in-process.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { queryDuckdb } from "./warehouse-readers.js";

const samples = fileURLToPath(new URL("../../samples/", import.meta.url));

/** Text outputs, and the flags that write them. */
const texts = [
  { output: "out.csv", flags: [] },
  { output: "out.tsv", flags: [] },
  { output: "out.ndjson", flags: [] },
  { output: "flat.ndjson", flags: ["--shape", "flat"] },
  { output: "ecs.json", flags: ["--to", "ecs"] },
] as const;

it.each(texts)("finds a row missing in $output $flags", async ({ output, flags }) => {
  const cwd = await enriched(output, flags);
  const path = join(cwd, output);
  const { audit, differences } = await verifyOutput(path, "rep_");
  expect([audit.rows, differences]).toEqual([24, []]);
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.toSpliced(5, 1).join("\n"));
  const changed = await verifyOutput(path, "rep_");
  expect(changed.differences).toContain("rows: the manifest says 24, the file has 23");
});

it.each([1, 99])("does not verify an output of schema version %i", async (version) => {
  const cwd = await enriched("out.csv", []);
  const path = join(cwd, "out.csv.manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  await writeFile(path, JSON.stringify({ ...manifest, schema_version: version }));
  const { code, stderr } = await runInProcess(["verify", join(cwd, "out.csv")]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    new RegExp(`has schema version ${version}; this version of repute reads 3$`, "m"),
  );
  expect(stderr).toContain("or run enrich on the input again");
});

it.each(texts.slice(0, 4))("neither retries nor reports $output without verdicts", async (text) => {
  const { output, flags } = text;
  const cwd = await enriched(output, flags);
  const path = join(cwd, output);
  await writeFile(
    path,
    (await readFile(path, "utf8")).replaceAll(/(rep_)?verdict/g, "$1judgement"),
  );
  for (const args of [
    ["retry", path, "-o", join(cwd, `again.${output}`), "--local"],
    ["report", path, "-o", join(cwd, "report.html")],
  ]) {
    const { code, stderr } = await runInProcess(args);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /does not have the columns of an output \(schema version 3\)|lacks 1 column .*: verdict/,
    );
  }
});

it("does not retry a Parquet file that lacks a column, and names it", async () => {
  const cwd = await enriched("new.parquet", []);
  const [from, to] = [join(cwd, "new.parquet"), join(cwd, "old.parquet")];
  await queryDuckdb(`COPY (SELECT * EXCLUDE (rep_verdict) FROM '${from}') TO '${to}'`);
  const args = ["retry", to, "-o", join(cwd, "again.parquet"), "--local"];
  const { code, stderr } = await runInProcess(args);
  expect(code).toBe(2);
  expect(stderr).toContain("old.parquet lacks 1 column that this needs: verdict");
});

/** A folder with an output. */
async function enriched(output: string, flags: readonly string[]): Promise<string> {
  const cwd = await temporaryFolder();
  const input = join(samples, "indicators.csv");
  const args = [
    "enrich",
    input,
    "-o",
    join(cwd, output),
    "--local",
    "--quiet",
    "--fail-on",
    "never",
  ];
  expect(await runInProcess([...args, ...flags])).toMatchObject({ code: 0 });
  return cwd;
}
