import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { parseOutput } from "../../../../src/io/output/registry.js";
import { verifyOutput } from "../../../../src/io/output/verify.js";
import type { Manifest } from "../../../../src/core/manifest.js";
import { runInProcess } from "../../../cli/run-in-process.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../../../samples/", import.meta.url));

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
  const { audit, differences } = await verifyOutput(parseOutput(path), "rep_");
  expect([audit.rows, differences]).toEqual([24, []]);
  const lines = (await readFile(path, "utf8")).split("\n");
  await writeFile(path, lines.toSpliced(5, 1).join("\n"));
  const changed = await verifyOutput(parseOutput(path), "rep_");
  expect(changed.differences).toContainEqual(expect.stringMatching(/^sha256: /));
  const counts = output === "ecs.json" ? [] : ["rows: the manifest says 24, the file has 23"];
  expect(changed.differences).toEqual(expect.arrayContaining(counts));
});

it.each([1, 99])("does not verify an output of schema version %i", async (version) => {
  const cwd = await enriched("out.csv", []);
  const path = join(cwd, "out.csv.manifest.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as Manifest;
  await writeFile(path, JSON.stringify({ ...manifest, schema_version: version }));
  const { code, stderr } = await runInProcess(["verify", join(cwd, "out.csv")]);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    new RegExp(`has schema version ${version}; this version of repute reads 4$`, "m"),
  );
  expect(stderr).toContain("or run enrich on the input again");
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
