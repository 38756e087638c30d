import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeObject } from "../../../../src/io/s3/objects.js";
import { startAnsweringServer } from "../../../helpers/answering-server.js";
import { type Fault, secret } from "./object-store.js";
import { indicators, objectTests } from "./object-tests.js";

const tests = await objectTests();
const { store, enrich, repute } = tests;

/** Rows as text without the times of the run. */
function lasting(text: string): string {
  return text.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, "TIME");
}

const fails = (method: string, pattern: RegExp, ...faults: readonly (Fault | null)[]) => {
  let index = 0;
  return ({ method: is, path }: { readonly method: string; readonly path: string }) =>
    is === method && pattern.test(path) ? (faults[index++] ?? null) : null;
};

test("reads an object and writes rows, manifest and report as objects", async () => {
  await store.put("in/dump.csv", await readFile(indicators));
  const flags = ["--report", "s3://lake/out/page.html"];
  const run = await enrich("s3://lake/in/dump.csv", "s3://lake/out/all.csv.gz", ...flags);
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect((await store.keys()).filter((key) => key.startsWith("out/"))).toEqual([
    "out/all.csv.gz",
    "out/all.csv.gz.manifest.json",
    "out/page.html",
  ]);
  const manifest = (await store.get("out/all.csv.gz.manifest.json")).toString();
  expect(JSON.parse(manifest)).toMatchObject({
    input: { path: "s3://lake/in/dump.csv", bytes: 1289 },
    output: { path: "s3://lake/out/all.csv.gz", rows: 24 },
  });
  expect(manifest).not.toContain(secret);
  expect(await readdir(tests.cwd)).toEqual([]);
  expect(await repute(["verify", "s3://lake/out/all.csv.gz"])).toMatchObject({ code: 0 });
  expect((await repute(["report", "s3://lake/out/all.csv.gz"])).stdout).toContain("Of 24 rows");
  const writes = store.requests.filter((line) => line.startsWith("PUT"));
  expect(writes.map((line) => line.replace(/\?.*/, ""))).toEqual([
    "PUT /lake/out/all.csv.gz",
    "PUT /lake/out/all.csv.gz.manifest.json",
    "PUT /lake/out/page.html",
  ]);
});

test("an upload that is not its file afterwards is an error", async () => {
  await store.put("in/dump.csv", await readFile(indicators));
  let isSent = false;
  store.fault = async ({ method, path }) => {
    if (!path.startsWith("/lake/out/all.csv?") && path !== "/lake/out/all.csv") return null;
    if (method === "HEAD" && isSent) await store.put("out/all.csv", "something else");
    isSent ||= method === "PUT";
    return null;
  };
  const run = await enrich("s3://lake/in/dump.csv", "s3://lake/out/all.csv");
  expect([run.code, run.stderr]).toEqual([1, expect.stringContaining("14 bytes instead of")]);
});

test("compares objects and writes the changes as an object", async () => {
  await store.put("in/dump.csv", await readFile(indicators));
  for (const seed of ["1", "2"]) {
    const out = `s3://lake/nights/${seed}.csv`;
    expect(await enrich("s3://lake/in/dump.csv", out, "--synthetic", seed)).toMatchObject({
      code: 0,
    });
  }
  const nights = ["s3://lake/nights/1.csv", "s3://lake/nights/2.csv"];
  for (const [name, start] of [
    ["csv", "change,kind,item"],
    ["html", "<!doctype html>"],
  ] as const) {
    const run = await repute(["diff", ...nights, "-o", `s3://lake/nights/changes.${name}`]);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect((await store.get(`nights/changes.${name}`)).toString().startsWith(start)).toBe(true);
  }
  const wrong = await repute(["diff", ...nights, "-o", "s3://lake/?changes.csv"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("not the address")]);
});

test("continues to read where the connection was lost", async () => {
  const text = ["ip", ...Array.from({ length: 30_000 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)];
  await store.put("in/long.csv", text.join("\n"));
  const local = join(tests.cwd, "local.csv");
  await writeFile(join(tests.cwd, "long.csv"), text.join("\n"));
  expect(await enrich("long.csv", local, "--bogons", "local")).toMatchObject({ code: 0 });
  store.fault = fails("GET", /long\.csv/, "cut", "reset", "slow down", "cut", "cut");
  const out = join(tests.cwd, "out.csv");
  const run = await enrich("s3://lake/in/long.csv", out, "--bogons", "local");
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect(lasting(await readFile(out, "utf8"))).toBe(lasting(await readFile(local, "utf8")));
  expect(store.requests.filter((line) => line.startsWith("GET")).length).toBeGreaterThan(4);
});

test("an input that is replaced while it is read ends the run", async () => {
  await store.put("in/moving.csv", `ip\n${"10.0.0.1\n".repeat(30_000)}`);
  let gets = 0;
  store.fault = ({ method }) => {
    if (method !== "GET" || gets++ > 0) return null;
    void store.put("in/moving.csv", `ip\n${"10.0.0.2\n".repeat(30_000)}`);
    return "cut";
  };
  const out = join(tests.cwd, "out.csv");
  const run = await enrich("s3://lake/in/moving.csv", out, "--bogons", "local");
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining("was replaced") });
});

test("says what is missing or refused", async () => {
  const gone = await enrich("s3://lake/in/none.csv", join(tests.cwd, "out.csv"));
  expect(gone).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no object") });
  const bare = await enrich(indicators, "s3://lake");
  expect(bare).toMatchObject({ code: 2, stderr: expect.stringContaining("s3://BUCKET/KEY") });
  store.fault = () => "denied";
  const refused = await enrich("s3://lake/in/dump.csv", join(tests.cwd, "out.csv"));
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("HTTP 403") });
  expect(await readdir(tests.cwd)).toEqual([]);
});

test("a missing bucket is noticed before anything is looked up", async () => {
  const run = await enrich(indicators, "s3://none/rows.csv");
  expect(run).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot write s3://none/rows.csv: there is no such bucket"),
  });
  expect(await readdir(tests.cwd)).toEqual([]);
});

test.each(["rows", "report"])(
  "a store that is away, or may not be written, is noticed before the first request (%s)",
  async (what) => {
    const service = await startAnsweringServer();
    const place = "s3://lake/away/rows";
    const to =
      what === "rows" ? ["-o", `${place}.csv`] : ["-o", "out.csv", "--report", `${place}.html`];
    const args = ["enrich", indicators, ...to, "--intel-url", service.url, "--quiet"];
    const gone = { AWS_ENDPOINT_URL_S3: "http://127.0.0.1:9" };
    const away = await repute(args, { env: { ...store.env, ...gone } });
    store.fault = ({ method }) => (method === "POST" ? "denied" : null);
    const refused = await repute(args);
    const cannot = `cannot write ${place}.${what === "rows" ? "csv" : "html"}: `;
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${cannot}ECONNREFUSED`),
    });
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`${cannot}the store refuses it`),
    });
    expect(service.total).toBe(0);
    expect(await readdir(tests.cwd)).toEqual([]);
  },
);

test("a failed upload is resumed without asking again; the earlier object stays until then", async () => {
  await store.put("night/all.csv", "the earlier night");
  store.fault = ({ method }) => (method === "PUT" ? "denied" : null);
  const failed = await enrich(indicators, "s3://lake/night/all.csv");
  expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("--resume") });
  expect((await store.get("night/all.csv")).toString()).toBe("the earlier night");
  expect((await enrich(indicators, "s3://lake/night/all.csv")).code).toBe(2);
  store.fault = () => null;
  const resumed = await enrich(indicators, "s3://lake/night/all.csv", "--resume", "--json");
  expect(resumed).toMatchObject({ code: 0 });
  expect(JSON.parse(resumed.stdout)).toMatchObject({ resumed: 1, output: { rows: 24 } });
  expect(await repute(["verify", "s3://lake/night/all.csv"])).toMatchObject({ code: 0 });
  const keys = ["night/all.csv", "night/all.csv.manifest.json"];
  expect(await store.keys("night/")).toEqual(keys);
  expect(await readdir(tests.cwd)).toEqual([]);
});

/** A file of five parts, and an object with its content. */
async function bigFile(): Promise<{ readonly path: string; readonly content: Buffer }> {
  const path = join(tests.cwd, "big.bin");
  const content = Buffer.alloc(40 * 1024 * 1024 - 1, "0123456789abcde");
  await writeFile(path, content);
  return { path, content };
}

test("a multipart upload survives resets and throttling", async () => {
  const { path, content } = await bigFile();
  store.fault = fails("PUT", /partNumber=/, "reset", "slow down", null, null, "reset");
  await writeObject("s3://lake/big.bin", path);
  expect(content.equals(await store.get("big.bin"))).toBe(true);
});

test.each([
  ["a wrong byte of a part", "PUT", /partNumber=/, "wrong byte", /BadDigest/],
  ["a refused completion", "POST", /uploadId=/, "denied", /refuses/],
] as const)("nothing stays of an upload with %s", async (_, method, pattern, fault, says) => {
  const { path } = await bigFile();
  store.fault = fails(method, pattern, fault);
  await expect(writeObject("s3://lake/none.bin", path)).rejects.toThrow(says);
  expect(await store.keys()).not.toContain("none.bin");
  expect(await store.uploads()).toEqual([]);
});

test("nothing stays of an upload that is interrupted", async () => {
  const { path } = await bigFile();
  const stopped = new AbortController();
  store.fault = ({ path: url }) => {
    if (url.includes("partNumber=3")) stopped.abort();
    return null;
  };
  const { signal } = stopped;
  await expect(writeObject("s3://lake/none.bin", path, { signal })).rejects.toThrow("cannot write");
  expect(await store.uploads()).toEqual([]);
});

test.each(["with a checksum", "without checksums"])(
  "an upload whose completion is not answered is complete, in a store %s",
  async (kind) => {
    const { path } = await bigFile();
    store.tellsChecksums = kind === "with a checksum";
    store.fault = fails("POST", /uploadId=/, "lost answer");
    expect(await writeObject("s3://lake/lost.bin", path)).toBe(await store.etag("lost.bin"));
    expect(store.requests.filter((line) => /partNumber=/.test(line))).toHaveLength(5);
    await store.remove("lost.bin");
  },
);
