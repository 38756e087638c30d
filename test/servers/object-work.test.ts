import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { comparable } from "../helpers/chunked-run.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { done, indicators, type ObjectTests, useObjectStore } from "./object-tests.js";

let tests: ObjectTests;
let store: ObjectTests["store"];
let cwd: string;
let key: string;
/** A work folder for each test. */
let work: string;

useObjectStore((given) => {
  tests = given;
  ({ store, cwd, key } = tests);
  work = `s3://lake/${key}`;
});

/** Runs the program in a folder, which stands for a machine. */
const reputeIn = (folder: string, ...args: readonly string[]) =>
  tests.repute(args, { cwd: folder });

const repute = (...args: readonly string[]) => reputeIn(cwd, ...args);

const split = (input: string, ...flags: readonly string[]) =>
  repute("split", input, "-o", work, "--rows-per-chunk", "10", "--quiet", ...flags);

const doChunk = (folder: string, chunk: number, ...flags: readonly string[]) =>
  reputeIn(folder, "enrich", work, "--chunk", `${chunk}`, "--local", "--quiet", ...flags);

const merge = (out: string, ...flags: readonly string[]) =>
  repute("merge", work, "-o", out, "--quiet", "--fail-on", "never", ...flags);

/** The rows of the sample in a run of its own. */
async function single(): Promise<readonly unknown[]> {
  const out = join(cwd, "single.csv");
  const run = ["enrich", indicators, "-o", out, "--local", "--quiet", "--fail-on", "never"];
  expect(await repute(...run)).toMatchObject({ code: 0 });
  return comparable(await readFile(out, "utf8"));
}

test("divides an input, does the chunks on two machines and joins them as one run", async () => {
  store.pageSize = 2;
  const other = await temporaryFolder();
  expect(await split(indicators)).toMatchObject(done);
  expect(await readdir(cwd)).toEqual([]);
  expect(await store.keys(key)).toEqual([`${key}/input`, `${key}/plan.json`]);
  expect(await split(indicators)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("has a complete plan already"),
  });
  for (const [chunk, folder] of [other, cwd, other].entries()) {
    expect(await doChunk(folder, chunk)).toMatchObject(done);
  }
  expect([await readdir(cwd), await readdir(other)]).toEqual([[], []]);
  const left = join(cwd, "left.csv");
  expect(await merge("s3://lake/out/merged.csv", "--rejects", left)).toMatchObject(done);
  const merged = await store.get("out/merged.csv");
  expect(await readdir(cwd)).toEqual(["left.csv"]);
  expect(await repute("verify", "s3://lake/out/merged.csv")).toMatchObject({ code: 0 });
  expect(comparable(merged.toString())).toEqual(await single());
});

test("reads the ranges of a plain object, and of its version only", async () => {
  await store.put(`in/${key}.csv`, await readFile(indicators));
  expect(await split(`s3://lake/in/${key}.csv`)).toMatchObject(done);
  expect(await store.keys(key)).toEqual([`${key}/plan.json`]);
  expect(await doChunk(cwd, 1, "--max-requests", "3")).toMatchObject({ code: 75 });
  for (const chunk of [2, 1, 0]) expect(await doChunk(cwd, chunk)).toMatchObject(done);
  expect(await merge("merged.csv")).toMatchObject(done);
  expect(comparable(await readFile(join(cwd, "merged.csv"), "utf8"))).toEqual(await single());
  await store.put(`in/${key}.csv`, `${(await readFile(indicators)).toString()}192.0.2.1,,,\n`);
  expect(await doChunk(cwd, 1, "--restart")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`in/${key}.csv has changed since it was split`),
  });
  expect((await readdir(cwd)).filter((name) => name.startsWith("repute-s3"))).toEqual([]);
});

test("copies gzip, tables and stdin into the work folder; chunks are Parquet", async () => {
  await store.put(`in/${key}.csv.gz`, gzipSync(await readFile(indicators)));
  const input = `s3://lake/in/${key}.csv.gz`;
  expect(await split(input, "--to", "parquet")).toMatchObject(done);
  for (const chunk of [0, 1, 2]) expect(await doChunk(cwd, chunk)).toMatchObject(done);
  expect(await merge("s3://lake/out/merged.parquet")).toMatchObject(done);
  work = `${work}-again`;
  expect(await split("s3://lake/out/merged.parquet", "--prefix", "again_")).toMatchObject(done);
  expect(await store.keys(`${key}-again`)).toEqual([
    `${key}-again/input.tsv`,
    `${key}-again/plan.json`,
  ]);
  for (const chunk of [0, 1, 2]) expect(await doChunk(cwd, chunk)).toMatchObject(done);
  expect(await merge("s3://lake/out/again.csv")).toMatchObject(done);
  expect((await store.get("out/again.csv")).toString().trimEnd().split("\n")).toHaveLength(25);
  expect(await readdir(cwd)).toEqual([]);
});

test.each(["before it looks", "while it writes"])(
  "an attempt that ends after another one leaves nothing: the other's record comes %s",
  async (when) => {
    expect(await split(indicators)).toMatchObject(done);
    expect(await doChunk(cwd, 1)).toMatchObject(done);
    const name = `${key}/chunk-00001.json`;
    const record = await store.get(name);
    const keys = await store.keys(key);
    await store.remove(name);
    const isMoment = when === "while it writes" ? /chunk-00001\.json/ : /\.manifest\.json/;
    store.fault = async ({ method, path }) => {
      if (method === "PUT" && isMoment.test(path)) await store.put(name, record);
      return null;
    };
    const late = await doChunk(await temporaryFolder(), 1, "--json");
    expect(late).toMatchObject({ code: 0 });
    expect((await store.get(name)).equals(record)).toBe(true);
    expect(await store.keys(key)).toEqual(keys);
  },
);

test("a chunk whose record was written although the answer was lost is done", async () => {
  expect(await split(indicators)).toMatchObject(done);
  let lost = 0;
  store.fault = ({ method, path }) =>
    method === "PUT" && path.includes("chunk-00000.json") && lost++ === 0 ? "lost answer" : null;
  expect(await doChunk(cwd, 0)).toMatchObject(done);
  expect(lost).toBe(2);
  const keys = (await store.keys(key)).filter((each) => each.includes("chunk-00000"));
  const { output, rejects } = JSON.parse(
    (await store.get(`${key}/chunk-00000.json`)).toString(),
  ) as Record<"output" | "rejects", { readonly file: string }>;
  expect(keys).toEqual(
    expect.arrayContaining([output, rejects].map(({ file }) => `${key}/${file}`)),
  );
});

test("works in a store without conditional writes", async () => {
  store.fault = ({ isConditional }) => (isConditional ? "not implemented" : null);
  expect(await split(indicators)).toMatchObject(done);
  expect(await doChunk(cwd, 0)).toMatchObject(done);
  expect(await doChunk(await temporaryFolder(), 0, "--json")).toMatchObject({ code: 0 });
  expect((await store.keys(`${key}/chunk`)).length).toBe(4);
});

test("throttling, resets and denials end a chunk or are overcome; --resume uploads the rest", async () => {
  const faults = ["reset", null, null, "slow down", null, null] as const;
  let request = 0;
  let lists = 0;
  store.fault = ({ path }) => {
    if (path.includes("list-type=2") && lists++ === 0) return "cut";
    return faults[request++ % faults.length] ?? null;
  };
  await store.put(`${key}/input`, "left by a split that was killed");
  expect(await split(indicators)).toMatchObject(done);
  expect(lists).toBeGreaterThan(1);
  expect(await doChunk(cwd, 0)).toMatchObject(done);
  store.fault = ({ method, path }) =>
    method === "PUT" && path.includes("chunk-00001") ? "denied" : null;
  const denied = await doChunk(cwd, 1);
  expect(denied).toMatchObject({ code: 1, stderr: expect.stringContaining("AccessDenied") });
  expect(await merge("out.csv")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("2 of 3 chunks"),
  });
  store.fault = () => null;
  expect((await readdir(cwd)).length).toBe(1);
  expect(await doChunk(cwd, 1, "--resume")).toMatchObject(done);
  expect(await doChunk(cwd, 2, "--resume")).toMatchObject(done);
  expect(await readdir(cwd)).toEqual([]);
  expect(await merge("out.csv")).toMatchObject(done);
});

test("names chunks that are damaged, and does them again", async () => {
  expect(await split(indicators)).toMatchObject(done);
  for (const chunk of [0, 1, 2]) expect(await doChunk(cwd, chunk)).toMatchObject(done);
  const file = (await store.keys(key)).find((each) => /chunk-00001\.\w+\.csv$/.test(each)) ?? "";
  await store.put(file, `${(await store.get(file)).toString().slice(0, -2)}x\n`);
  expect(await merge("s3://lake/out/damaged.csv")).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/chunk 1: .* has changed/),
  });
  expect(await store.keys("out/damaged")).toEqual([]);
  const again = await doChunk(cwd, 1);
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("is done again") });
  expect(await merge("s3://lake/out/damaged.csv")).toMatchObject(done);
  expect(await readdir(cwd)).toEqual([]);
});
