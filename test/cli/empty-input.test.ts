import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { queryDuckdb } from "../contract/warehouse-readers.js";
import { runRepute } from "../helpers/run-repute.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const filled = "ip\n198.51.100.1\n198.51.100.2\n";

async function prepared(output: string, more: readonly string[] = []) {
  const cwd = await temporaryFolder();
  const enrich = async (text: string, flags: readonly string[] = []) => {
    await writeFile(join(cwd, "in.csv"), text);
    const args = ["enrich", "in.csv", "-o", output, "--local", "--quiet", ...more, ...flags];
    return runRepute(args, { cwd });
  };
  return { cwd, enrich };
}

/** Every file under a folder with its content, except the input. */
async function contentOf(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "in.csv");
  const texts = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    return [path, await readFile(path, "latin1")] as const;
  });
  return Object.fromEntries(await Promise.all(texts));
}

test.each([
  ["a compressed file", "out.ndjson.gz", []],
  ["a bundle", "out.json", ["--to", "stix"]],
  ["Parquet", "out.parquet", []],
  ["a data set", "set/", ["--to", "csv"]],
] as const)("an input without rows does not replace the rows of %s", async (_, output, more) => {
  const { cwd, enrich } = await prepared(output, more);
  expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
  const before = await contentOf(cwd);
  for (const flags of [["--resume"], ["--restart"]]) {
    const { code, stderr } = await enrich("ip\n", flags);
    expect(stderr).toMatch(
      `repute: the input has no rows; ${output} keeps the 2 rows of the run before\n`,
    );
    expect(stderr).toContain(`remove ${output} first`);
    expect(code).toBe(1);
    expect(await contentOf(cwd)).toEqual(before);
  }
  expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
});

test("an input without rows does not replace the rows of merged chunks", async () => {
  const { cwd, enrich } = await prepared("out.csv");
  const merged = async (work: string) => {
    const steps = [
      ["split", "in.csv", "-o", work, "--item-column", "ip"],
      ["enrich", work, "--chunk", "0", "--local"],
      ["merge", work, "-o", "out.csv"],
    ];
    const ends = [];
    for (const step of steps) ends.push(await runRepute([...step, "--quiet"], { cwd }));
    return ends.map(({ code, stderr }) => `${code} ${stderr}`);
  };
  expect(await enrich(filled)).toMatchObject({ code: 0 });
  await writeFile(join(cwd, "in.csv"), "ip\n");
  const before = await readFile(join(cwd, "out.csv"), "utf8");
  const [split, chunk, merge] = await merged("work");
  expect([split, chunk]).toEqual(["0 ", "0 "]);
  expect(merge).toContain("the input has no rows; out.csv keeps the 2 rows");
  expect(await readFile(join(cwd, "out.csv"), "utf8")).toBe(before);
});

test("an input without rows is a run of zero rows, with a warning, if there is nothing to keep", async () => {
  const { cwd, enrich } = await prepared("out.csv");
  const warned = { code: 0, stderr: "repute: warning: the input has no rows\n" };
  expect(await enrich("ip\n")).toEqual(expect.objectContaining(warned));
  // Its output has no rows either.
  expect(await enrich("ip\n")).toEqual(expect.objectContaining(warned));
  const manifest = JSON.parse(await readFile(join(cwd, "out.csv.manifest.json"), "utf8")) as object;
  expect(manifest).toMatchObject({ exit_reason: "done", exit_code: 0, output: { rows: 0 } });
});

test("an input without rows does not empty a table of --mode replace", async () => {
  const table = "duckdb:out.duckdb?table=t";
  const { cwd, enrich } = await prepared(table, ["--mode", "replace"]);
  expect(await enrich(filled)).toMatchObject({ code: 0, stderr: "" });
  const { code, stderr } = await enrich("ip\n", ["--resume"]);
  expect(stderr).toContain(`the input has no rows; ${table} keeps the 2 rows of the run before\n`);
  expect(stderr).toContain(`empty ${table} first`);
  expect(code).toBe(1);
  const count = () => queryDuckdb("SELECT count(*)::int AS n FROM t", join(cwd, "out.duckdb"));
  expect(await count()).toEqual([{ n: 2 }]);
  // A list of what is malicious may be empty.
  expect(await enrich(filled, ["--only", "malicious"])).toMatchObject({ code: 0, stderr: "" });
  expect(await count()).toEqual([{ n: 0 }]);
});

test("a table without rows of its run matches its manifest", async () => {
  const table = "duckdb:out.duckdb?table=t";
  const { cwd, enrich } = await prepared(table);
  expect(await enrich("ip\n")).toMatchObject({ code: 0 });
  expect(await runRepute(["verify", table], { cwd })).toMatchObject({
    code: 0,
    stdout: `${table}: 0 rows, matches its manifest\n`,
  });
});
