import { expect, test } from "vitest";
import type { TagIps } from "../../src/client/api/calls.js";
import { datasetOf } from "../helpers/dataset-of.js";
import type { Service } from "../../src/service/service.js";
import { ask, askJson, refusalOf, resultOf, runningService, sending } from "./running-service.js";

const bruteForce = "/beta/tags/credentials%3Abrute-force";

function page(service: Service, query: string, tag = bruteForce): Promise<TagIps> {
  return resultOf(service, `${tag}/ips?${query}`);
}

function change(service: Service, entries: readonly string[]): Promise<unknown> {
  const path = "/_local/tags/credentials%3Abrute-force/ips";
  return askJson(service, path, sending("PUT", { entries }));
}

test("returns 1000 entries without a limit", async () => {
  const entries = Array.from({ length: 1200 }, (_, i) => `192.0.${2 + (i >> 8)}.${i & 255}`);
  const tags = [{ tag: { name: "a:b" }, lastUpdate: "2024-01-01T00:00:00Z", entries }];
  const service = await runningService({ dataset: datasetOf({ tags }) });
  const result = await page(service, "", "/beta/tags/a%3Ab");
  expect([result.entries.length, result.total]).toEqual([1000, 1200]);
});

test("a snapshot keeps its entries while the list changes", async () => {
  const service = await runningService();
  const before = await page(service, "limit=10000");
  await change(service, ["192.0.2.200"]);
  const pinned = await page(service, `limit=10000&snapshot=${before.snapshot}`);
  expect(pinned).toEqual(before);
});

test("without a snapshot, a change of the list is visible", async () => {
  const service = await runningService();
  const before = await page(service, "limit=1");
  await change(service, ["192.0.2.200", "2001:db8::200"]);
  const after = await page(service, "limit=10");
  expect(after.entries).toEqual(["192.0.2.200", "2001:db8::200"]);
  expect(after.snapshot).not.toBe(before.snapshot);
  expect(after.lastUpdate).not.toBe(before.lastUpdate);
});

test.each<[string, RequestInit]>([
  ["an entry that is no address", sending("PUT", { entries: ["192.0.2.1", "x"] })],
  ["another body", sending("PUT", [])],
])("a change with %s is refused", async (_, init) => {
  const service = await runningService();
  const path = "/_local/tags/credentials%3Abrute-force/ips";
  expect((await ask(service, path, init)).status).toBe(400);
});

test.each([
  ["/beta/tags/no%3Asuch", '"no:such"'],
  ["/beta/tags/no%3Asuch/ips", '"no:such"'],
  ...[
    ["offset=-1", "offset must be at least 0"],
    ["offset=1.5", "offset must be a whole number"],
    ["offset=", "offset must be a whole number"],
    ["offset=99999999999999999999", "offset must be at most"],
    ["offset=1&offset=2", "offset must be given once"],
    ["limit=0", "limit must be at least 1"],
    ["limit=-1", "limit must be at least 1"],
    ["limit=10001", "limit must be at most 10000"],
    ["limit=1e3", "limit must be a whole number"],
    ["snapshot=a&snapshot=b", "snapshot must be given once"],
  ].map(([query, why]) => [`${bruteForce}/ips?${query}`, why!]),
  [`${bruteForce}/ips?snapshot=${"a".repeat(23)}`, "24 characters"],
  [`${bruteForce}/ips?snapshot=${"a".repeat(24)}`, "expired"],
])("%s is refused for its %s", async (path, why) => {
  expect(await refusalOf(await runningService(), path)).toContain(why);
});

test("only the snapshots of the newest 16 lists stay readable", async () => {
  const service = await runningService();
  const { snapshot } = await page(service, "");
  for (let host = 1; host < 16; host++) await change(service, [`192.0.2.${host}`]);
  expect(await page(service, `snapshot=${snapshot}`)).toHaveProperty("snapshot", snapshot);
  await change(service, []);
  const path = `${bruteForce}/ips?snapshot=${snapshot}`;
  expect(await refusalOf(service, path)).toContain("expired");
});

test("a snapshot of another tag is refused", async () => {
  const service = await runningService();
  const { snapshot } = await page(service, "", "/beta/tags/spam%3Asnowshoe");
  expect(await refusalOf(service, `${bruteForce}/ips?snapshot=${snapshot}`)).toContain("snapshot");
});
