import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { EarlyEndError } from "../../src/core/errors.js";
import { type Repute, repute } from "../../src/library/repute.js";
import type { ReputeOptions } from "../../src/library/options.js";
import { sampleAccessToken, sampleCaseApiKey, type Service } from "../../src/service/service.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";
import { runningService } from "../service/running-service.js";

let service: Service;

beforeEach(async () => {
  service = await runningService({ apiKey: "key" });
});

/** A client of the service, closed after the test. */
function client(options: ReputeOptions = {}): Repute {
  const usual = { bogons: "ask", url: service.intelUrl, apiKey: "key", rate: "1000/s" } as const;
  const opened = repute({ ...usual, ...options });
  onTestFinished(() => opened.close());
  return opened;
}

/** Requests that the service has counted, all endpoints together. */
function requests(): number {
  return Object.values(service.stats().requests).reduce((sum, { total }) => sum + total, 0);
}

it("looks an item up in full", async () => {
  const result = await client().lookup("192.0.2[.]1");
  expect(result).toMatchObject({
    input: "192.0.2[.]1",
    item: "192.0.2.1",
    kind: "ip",
    status: "complete",
    verdict: "malicious",
    query: { type: "IP", tags: ["credentials:brute-force", "spam:snowshoe"] },
    quickCheck: { intent: "malicious" },
    missing: [],
    source: "sample",
    attempts: 2,
    error: null,
  });
});

it("enriches a list of files, or a folder, as one input", async () => {
  const folder = await temporaryFolder();
  const inputs = await temporaryFolder();
  const both = [join(inputs, "a.csv"), join(inputs, "b.csv")];
  await writeFile(both[0]!, "ip\n192.0.2.1\n");
  await writeFile(both[1]!, "host\nexample.com\n");
  const out = join(folder, "out.csv");
  const notices: string[] = [];
  for (const input of [both, inputs]) {
    const onNotice = (notice: string) => void notices.push(notice);
    const manifest = await client().enrichFile(input, out, { onNotice });
    expect(manifest.inputs?.map(({ path, rows }) => [path, rows])).toEqual(
      both.map((path) => [path, 1]),
    );
    expect(await readFile(out, "utf8")).toMatch(/^ip,host,rep_item,.*,rep_file\n192\.0\.2\.1,,/);
    await writeFile(join(inputs, "notes.md"), "");
  }
  expect(notices).toContain(`skipping notes.md in ${inputs}: not a file of a known format`);
  await expect(client().enrichFile([], out)).rejects.toMatchObject({ code: "invalid_setting" });
});

it("tells results apart by status", async () => {
  const r = client({ lookups: "query" });
  expect(await r.lookup("203.0.113.51")).toMatchObject({ status: "partial", error: null });
  const nothing = { item: null, verdict: null, source: null };
  expect(await r.lookup("setup.exe")).toMatchObject({
    status: "unsupported",
    ...nothing,
    error: { code: "file_name" },
  });
  const exclude = [join(await temporaryFolder(), "corp.txt")];
  await writeFile(exclude[0]!, "example.com\n");
  expect(await client({ exclude }).lookup("www.example[.]com")).toMatchObject({
    status: "unsupported",
    item: "www.example.com",
    kind: "domain",
    source: "local",
    error: { code: "excluded" },
  });
  expect(await r.lookup(12 as unknown as string)).toMatchObject({
    status: "unsupported",
    error: { code: "not_text" },
  });
  expect(
    await client({ url: "http://127.0.0.1:9/beta", retries: 0 }).lookup("1.2.3.4"),
  ).toMatchObject({ status: "failed", item: "1.2.3.4", error: { code: "connect_refused" } });
});

it("shares the request of simultaneous lookups, and asks again later", async () => {
  const r = client({ lookups: "query" });
  await Promise.all([r.lookup("192.0.2.1"), r.lookup("192.0.2.1")]);
  expect(requests()).toBe(1);
  expect((await r.lookup("192.0.2.1")).source).toBe("sample");
  expect(requests()).toBe(2);
});

it("looks a stream up in its order and asks for no item twice", async () => {
  async function* items() {
    yield* ["192.0.2.1", "setup.exe", "example.com", "192.0.2.1"];
  }
  const results = [];
  for await (const result of client({ lookups: "query" }).lookupAll(items())) results.push(result);
  expect(results.map(({ input, source }) => `${input} ${source}`)).toEqual([
    "192.0.2.1 sample",
    "setup.exe null",
    "example.com sample",
    "192.0.2.1 duplicate",
  ]);
  expect(requests()).toBe(2);
});

it("stops asking when the consumer of a stream leaves its loop", async () => {
  function* items() {
    for (let host = 1; host < 250; host++) yield `198.51.100.${host}`;
  }
  const r = client({ lookups: "query", concurrency: 2 });
  for await (const { input } of r.lookupAll(items())) if (input.endsWith(".3")) break;
  await r.close();
  expect(requests()).toBeLessThan(10);
});

it("enriches a file and returns its manifest", async () => {
  const folder = await temporaryFolder();
  const [input, output] = [join(folder, "in.csv"), join(folder, "out.csv")];
  await writeFile(input, "note,data\na,192.0.2.1\nb,setup.exe\n");
  const notices: string[] = [];
  const manifest = await client().enrichFile(input, output, {
    itemColumn: "data",
    prefix: "x_",
    onNotice: (message) => notices.push(message),
  });
  expect(manifest).toMatchObject({
    exit_reason: "done",
    statuses: { complete: 1, unsupported: 1 },
    verdicts: { malicious: 1 },
    input: { path: input, item_column: "data" },
  });
  expect(await readFile(output, "utf8")).toMatch(/^note,data,x_item,.*\na,192\.0\.2\.1,192/);
});

it("reads and writes streams", async () => {
  const output = new PassThrough();
  const rows = text(output);
  const lines = Readable.from([Buffer.from('{"ip":"192.0.2.1"}\n')]);
  await client().enrichFile(lines, output, { from: "ndjson", to: "ndjson" });
  output.end();
  expect(JSON.parse(await rows)).toMatchObject({ ip: "192.0.2.1", rep: { verdict: "malicious" } });
});

it.each([
  [undefined, "out.csv", "input must be a path, a list of paths or a readable stream"],
  [["in.csv", 7], "out.csv", "input must be a path, a list of paths or a readable stream"],
  ["in.csv", undefined, "output must be a path or a writable stream"],
])("refuses the ends %o and %o of a run", async (input, output, message) => {
  const run = client().enrichFile(input as string, output as string);
  await expect(run).rejects.toThrow(`enrichFile(): ${message}`);
});

it("ends what waits for a used-up quota", async () => {
  const r = client({ rate: "3/d", stateFolder: null, lookups: "query" });
  for (const last of [1, 2, 3]) await r.lookup(`192.0.2.${last}`);
  for (const late of [r.lookup("192.0.2.4"), r.lookup("192.0.2.5")]) {
    await expect(late).rejects.toThrow(EarlyEndError);
    await expect(late).rejects.toMatchObject({ code: "quota_used_up" });
  }
  expect(requests()).toBe(3);
});

it("calls the other parts of the interface", async () => {
  const { opsUrl, caseUrl } = service;
  const keys = { accessToken: sampleAccessToken, caseApiKey: sampleCaseApiKey };
  const r = client({ opsUrl, caseUrl, ...keys });
  expect(await r.tags()).toHaveLength(7);
  expect(await r.tag("spam:snowshoe")).toMatchObject({ intent: "malicious" });
  const pages = [];
  for await (const page of r.tagIps("spam:snowshoe", { limit: 2 })) pages.push(page.entries.length);
  expect(pages).toEqual([2, 2, 1]);
  const customers = [];
  for await (const { customer_id } of r.customers()) customers.push(customer_id);
  expect(customers).toHaveLength(7);
  await expect(r.repShareCase("none")).rejects.toMatchObject({ name: "NotFoundError" });
  await expect(r.caseContext("none")).rejects.toMatchObject({ name: "NotFoundError" });
});

it("says which address a call needs", async () => {
  await expect(client().caseContext("1")).rejects.toMatchObject({
    code: "case_url_missing",
    hint: 'give it as in repute({ caseUrl: "https://cases.example" })',
  });
});

it("rejects with a FatalError when the service refuses the key", async () => {
  await expect(client({ apiKey: "wrong" }).lookup("192.0.2.1")).rejects.toMatchObject({
    name: "FatalError",
  });
});

it("needs no service with local: true", async () => {
  await using r = repute({ local: true, synthetic: 1 });
  expect((await r.lookup("192.0.2.1")).verdict).toBe("malicious");
  expect((await r.lookup("8.8.8.8")).status).toMatch(/complete|partial/);
  expect(requests()).toBe(0);
});

it("ends open lookups when it is closed, and rejects later calls", async () => {
  const r = client();
  const [lookup] = await Promise.allSettled([r.lookup("192.0.2.1"), r[Symbol.asyncDispose]()]);
  expect(lookup).toMatchObject({ status: "rejected", reason: { code: "client_closed" } });
  await expect(r.lookup("192.0.2.1")).rejects.toMatchObject({ code: "client_closed" });
  await r.close();
});
