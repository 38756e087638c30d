import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { done, indicators, objectTests } from "../../output/object/object-tests.js";

const tests = await objectTests();
const { store, enrich, repute } = tests;

test("reads a Parquet object, whatever becomes of the connection", async () => {
  expect(await enrich(indicators, "s3://lake/in/rows.parquet")).toMatchObject(done);
  const local = join(tests.cwd, "local.parquet");
  await writeFile(local, await store.get("in/rows.parquet"));
  const flags = ["--prefix", "again_"];
  expect(await enrich(local, "local.csv", ...flags)).toMatchObject(done);
  const faults = ["cut", "slow down", "reset", null] as const;
  let gets = 0;
  store.fault = ({ method }) => (method === "GET" ? (faults[gets++] ?? null) : null);
  expect(await enrich("s3://lake/in/rows.parquet", "object.csv", ...flags)).toMatchObject(done);
  expect(gets).toBe(4);
  const rows = async (name: string) =>
    (await readFile(join(tests.cwd, name), "utf8")).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
  expect(await rows("object.csv")).toEqual(await rows("local.csv"));
  expect(await repute(["plan", "s3://lake/in/rows.parquet", "--local"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("24"),
  });
});

test.each([
  ["text.parquet", 1, "cannot read s3://lake/in/text.parquet"],
  ["gone.parquet", 2, "there is no object s3://lake/in/gone.parquet"],
])("says that an object is no Parquet, or is missing: %s", async (name, code, message) => {
  await store.put("in/text.parquet", "not Parquet");
  const stderr = expect.stringContaining(message) as string;
  expect(await enrich(`s3://lake/in/${name}`, "out.csv")).toMatchObject({ code, stderr });
  expect(await readdir(tests.cwd)).toEqual([]);
});

test("a wrong byte in a download ends the run, if the store tells the checksum", async () => {
  expect(await enrich(indicators, "s3://lake/in/sound.csv")).toMatchObject(done);
  const path = "s3://lake/in/sound.csv";
  store.fault = ({ method, path: of }) =>
    method === "GET" && of.includes("sound.csv?") ? "wrong byte" : null;
  const run = await enrich(path, "out.csv", "--prefix", "again_");
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("CRC-32") });
  expect(await readdir(tests.cwd)).not.toContain("out.csv");
  const report = await repute(["report", path]);
  expect(report).toMatchObject({ code: 1, stderr: expect.stringContaining("CRC-32") });
});

test("removes KEY.failed of an earlier run, which its manifest identifies", async () => {
  const out = "s3://lake/night/rows.csv";
  const bad = join(tests.cwd, "bad.csv");
  await writeFile(bad, "ip\n192.0.2.1\n");
  await store.put("night/rows.csv.failed", "old");
  const record = { exit_reason: "too_many_failed", output: { path: `${out}.failed` } };
  await store.put("night/rows.csv.failed.manifest.json", JSON.stringify(record));
  expect(await enrich(bad, out)).toMatchObject(done);
  expect(await store.keys("night/")).toEqual(["night/rows.csv", "night/rows.csv.manifest.json"]);
  await store.put("night/rows.csv.failed", "the user's own");
  expect(await enrich(bad, out)).toMatchObject(done);
  expect(await store.keys("night/")).toContain("night/rows.csv.failed");
});

test("an input without rows does not replace an object that has rows", async () => {
  const out = "s3://lake/kept/rows.csv";
  expect(await enrich(indicators, out)).toMatchObject(done);
  await writeFile(join(tests.cwd, "empty.csv"), "ip\n");
  const flags = ["--item-column", "ip"];
  const refused = { code: 1, stderr: expect.stringContaining("the previous run had 24") as string };
  expect(await enrich("empty.csv", out, ...flags)).toMatchObject(refused);
  expect((await store.get("kept/rows.csv")).toString().split("\n")).toHaveLength(26);
  expect(await enrich("empty.csv", out, ...flags, "--min-rows", "0")).toMatchObject({ code: 0 });
});

test("retries Parquet from object to object", async () => {
  const [from, to] = ["s3://lake/retry/rows.parquet", "s3://lake/retry/again.parquet"];
  expect(await enrich(indicators, from)).toMatchObject(done);
  const retry = ["retry", from, "-o", to, "--local", "--quiet", "--fail-on", "never"];
  expect(await repute(retry)).toMatchObject(done);
  expect(await repute(["verify", to])).toMatchObject({ code: 0 });
  const manifest = async (key: string) =>
    JSON.parse((await store.get(`retry/${key}.parquet.manifest.json`)).toString()) as {
      readonly run_id: string;
    };
  expect(await manifest("again")).toMatchObject({
    input: { path: from },
    output: { path: to, rows: 24 },
  });
  expect(await readdir(tests.cwd)).toEqual([]);
});

test("refuses to replace its input, which a retry does", async () => {
  const address = "s3://lake/in/same.csv";
  await store.put("in/same.csv", await readFile(indicators));
  const refused = { code: 2, stderr: expect.stringContaining("would overwrite the input") };
  expect(await enrich(address, "S3://lake/in/same.csv")).toMatchObject(refused);
  const output = "s3://lake/same/rows.csv";
  expect(await enrich(indicators, output)).toMatchObject(done);
  expect(await repute(["retry", output, "--local"])).toMatchObject({ code: 0 });
  expect(await repute(["verify", output])).toMatchObject({ code: 0 });
  expect(await readdir(tests.cwd)).toEqual([]);
});

test("refuses what only a file can be", async () => {
  const metrics = await enrich(indicators, "out.csv", "--metrics", "s3://lake/m.prom");
  expect(metrics).toMatchObject({ code: 2, stderr: expect.stringContaining("node_exporter") });
  expect(await readdir(tests.cwd)).toEqual([]);
});
