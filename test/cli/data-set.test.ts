import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Manifest } from "../../src/core/manifest/manifest.js";
import { readParquet } from "../contract/warehouse-readers.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const indicators = fileURLToPath(new URL("../../samples/indicators.csv", import.meta.url));
const rows = 24;

/** Enriches the sample indicators into a data set. */
async function enrich(out: string, flags: readonly string[], input = indicators) {
  // Partial answers are asked for again after a while, which takes real time.
  const local = ["--local", "--quiet", "--fail-on", "never", "--partial-retries", "0"];
  const args = ["enrich", input, "-o", out, ...local];
  return runRepute([...args, ...flags]);
}

async function manifestIn(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, "_manifest.json"), "utf8")) as Manifest;
}

describe.each([
  ["parquet", [], "parquet"],
  ["csv", [], "csv"],
  ["ndjson", ["--gzip"], "ndjson.gz"],
  ["es-bulk", [], "ndjson"],
])("enrich -o DIR/ --to %s", (to, flags, extension) => {
  test("writes parts and a manifest that verify checks", async () => {
    const set = join(await temporaryFolder(), "set/");
    expect(await enrich(set, ["--to", to, "--rows-per-file", "10", ...flags])).toMatchObject({
      code: 0,
      stderr: "",
    });
    const { output, run_id } = await manifestIn(set);
    const names = [0, 1, 2].map((n) => `part-0000${n}-${run_id}.${extension}`);
    expect(await readdir(set)).toEqual(["_manifest.json", ...names]);
    expect(output).toMatchObject({ format: to, rows, sha256: null });
    expect(output.parts?.map((part) => [part.name, part.rows])).toEqual(
      names.map((name, n) => [name, n === 2 ? 4 : 10]),
    );
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(set, name))).size));
    expect(output.parts?.map(({ bytes }) => bytes)).toEqual(sizes);
    expect(await runRepute(["verify", set.slice(0, -1)])).toMatchObject({ code: 0 });
    expect(await readdir(join(set, ".."))).toEqual(["set"]);

    const [first = "", second = ""] = names;
    await writeFile(join(set, first), await readFile(join(set, second)));
    const changed = await runRepute(["verify", set]);
    expect([changed.code, changed.stderr]).toEqual([
      1,
      expect.stringContaining(`${first}: sha256`),
    ]);
    await rm(join(set, second));
    const gone = await runRepute(["verify", set]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(`${second} is missing`)]);
  });
});

test("replaces an earlier data set with parts of other names, and keeps foreign files", async () => {
  const set = join(await temporaryFolder(), "set/");
  await enrich(set, ["--to", "csv", "--rows-per-file", "10"]);
  const foreign = ["README", "part-00007.csv"];
  for (const name of foreign) await writeFile(join(set, name), "mine");
  await enrich(set, ["--to", "parquet", "--rows-per-file", "20"]);
  const { output, run_id } = await manifestIn(set);
  const { parts = [] } = output;
  const names = [0, 1].map((n) => `part-0000${n}-${run_id}.parquet`);
  expect(parts.map(({ name }) => name)).toEqual(names);
  expect(new Set(await readdir(set))).toEqual(new Set([...foreign, "_manifest.json", ...names]));
  const read = await Promise.all(parts.map(({ name }) => readParquet(join(set, name))));
  expect(read.flat().map((row) => Number(row["rep_row"]))).toEqual(
    Array.from({ length: rows }, (_, n) => n + 1),
  );
});

test("keeps the earlier data set after too many failures, with the new rows beside it", async () => {
  const folder = await temporaryFolder();
  const input = join(folder, "in.ndjson");
  await writeFile(input, '{"ip":"192.0.2.1"}\n');
  const set = join(folder, "set/");
  await enrich(set, ["--to", "csv"], input);
  const before = await manifestIn(set);
  await writeFile(input, '{"ip":"192.0.2.1"}\nbroken\n');
  const flags = ["--to", "csv", "--max-failed", "0"];
  expect(await enrich(set, flags, input)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(join(folder, "set.failed/")),
  });
  expect(await manifestIn(set)).toEqual(before);
  expect(await runRepute(["verify", join(folder, "set.failed")])).toMatchObject({ code: 0 });
  await writeFile(input, '{"ip":"192.0.2.1"}\n');
  expect(await enrich(set, flags, input)).toMatchObject({ code: 0 });
  expect((await readdir(folder)).sort()).toEqual(["in.ndjson", "set"]);
});

test("refuses unsuitable folders, formats and flags", async () => {
  const folder = await temporaryFolder();
  const foreign = join(folder, "foreign/");
  await mkdir(foreign);
  await writeFile(join(foreign, "part-00000.csv"), "a\n1\n");
  const refused = async (out: string, ...flags: string[]) => {
    const { code, stderr } = await enrich(out, flags);
    expect(code).toBe(2);
    return stderr;
  };
  const set = join(folder, "set/");
  expect(await refused(set)).toContain("--to");
  expect(await refused(set, "--to", "stix")).toContain("one file");
  expect(await refused(set, "--to", "parquet", "--gzip")).toContain("already compressed");
  expect(await refused(foreign, "--to", "csv")).toContain("parts of another data set");
  expect(await refused(join(folder, "a.csv"), "--rows-per-file", "5")).toContain(
    "only to data sets",
  );
  expect(await refused(join(folder, "a.txt"), "--to", "parquet")).toContain("OUT.parquet");
  expect(await refused(join(foreign, "part-00000.csv/"), "--to", "csv")).toContain("not a folder");
  expect(await readdir(folder)).toEqual(["foreign"]);
});
