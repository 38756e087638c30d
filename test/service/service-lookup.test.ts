import fc from "fast-check";
import { expect, test } from "vitest";
import type { QueryResult } from "../../src/core/endpoints/query.js";
import { datasetOf } from "../helpers/dataset-of.js";
import { loadDataset, sampleDataset } from "../../src/service/dataset.js";
import { ask, askJson, refusalOf, resultOf, runningService } from "./running-service.js";

const dataset = await loadDataset(sampleDataset);
/** Serves the tests that do not change what it answers. */
const service = await runningService({ dataset });
const empty = await runningService({ dataset: datasetOf({}) });
const listed = [...dataset.items.values()].filter((entry) => "result" in entry);

function query(item: string): string {
  return `/beta/query/${encodeURIComponent(item)}`;
}

function quickCheck(item: string): string {
  return `/beta/quick-check/${encodeURIComponent(item)}`;
}

test.each(listed.filter((entry) => entry.partial === undefined).map((entry) => entry.result))(
  "query answers for $item with the result of the dataset",
  async (result) => {
    const answer = await askJson(service, query(result.item));
    expect(answer).toEqual({ status: "success", statusCode: 200, result });
  },
);

test.each([
  ["ip", "45.33.32.156", "IP"],
  ["ip, version 6", "2606:4700::1111", "IP"],
  ["domain", "unheard-of.example.com", "DOMAIN"],
  ["url", "https://unheard-of.example.com/a?b#c", "URL"],
  ["sha1", "0123456789abcdef0123456789abcdef01234567", "SHA1"],
  ["crypto_wallet", "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", "CRYPTO_WALLET"],
  ["email", "nobody@example.com", "EMAIL"],
])("answers an unknown item of kind %s as not listed", async (_, item, type) => {
  const result = await resultOf(empty, query(item));
  expect(result).toMatchObject({ item, type, serviceMailBlocklist: "NOT_LISTED" });
});

test.each(["setup.exe", "10.0.0.0/8", "d41d8cd98f00b204e9800998ecf8427e", "", " ", "no item"])(
  "query and quick check refuse %j with the failure envelope",
  async (text) => {
    for (const path of [query(text), quickCheck(text)]) {
      expect(await refusalOf(service, path)).toContain("cannot look up");
    }
  },
);

test("refuses a broken encoding with the failure envelope", async () => {
  expect(await refusalOf(service, "/beta/query/%C3%28")).toContain("percent-encoded");
});

test("answers a refused item of the dataset with its message", async () => {
  const items = [{ item: "example.com", refuse: "not today" }];
  const service = await runningService({ dataset: datasetOf({ items }) });
  expect(await refusalOf(service, query("example.com"))).toBe("not today");
});

test("returns any URL as sent", async () => {
  const path = fc.string({ unit: "grapheme", maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(path, async (text) => {
      const url = new URL(
        `http://example.com/${encodeURIComponent(text)}?q=%25%2F${encodeURIComponent(text)}`,
      );
      const result = await resultOf<QueryResult>(service, query(url.href));
      expect(result.item).toBe(url.href);
    }),
    { numRuns: 50 },
  );
});

test.each([
  ["192.0.2.1", "ACTIVE", { intent: "malicious", bogon: false, activity: true }],
  ["203.0.113.200", "NOT_LISTED", { intent: "unknown", activity: false }],
  ["10.0.0.1", "NOT_LISTED", { intent: "none", bogon: true, activity: false }],
  ["downloads.example.net", "ACTIVE", { type: "DOMAIN", activity: false }],
  [
    "billing@example.net",
    expect.anything(),
    { intent: "malicious", type: "EMAIL", activity: true },
  ],
])("the quick check of %s agrees with its query", async (item, serviceMailBlocklist, more) => {
  const expected = { serviceMailBlocklist, ...more };
  expect(await resultOf(service, quickCheck(item))).toMatchObject(expected);
});

test("a scripted item is partial as often as its script says, then full, then partial again", async () => {
  const service = await runningService({ dataset });
  for (const status of [503, 503, 200]) {
    expect(await ask(service, query("203.0.113.50"))).toMatchObject({ status });
  }
  expect(await askJson(service, query("203.0.113.50"))).toMatchObject({
    status: "partial_success",
    statusCode: 503,
    errors: {},
    result: { item: "203.0.113.50", reverseDns: null, abuseContact: null, asn: null },
  });
});

test("an item scripted forever never gets a full answer", async () => {
  for (let count = 0; count < 5; count += 1) {
    expect((await ask(service, query("203.0.113.51"))).status).toBe(503);
  }
});

test.each(["/beta/query/http://example.com/a", "/query/192.0.2.1"])(
  "%s is not a route and gets 404 in JSON",
  async (path) => {
    const { status, headers, body } = await ask(service, path);
    expect([status, headers.get("content-type")]).toEqual([404, "application/json; charset=utf-8"]);
    expect(JSON.parse(body)).toHaveProperty("message");
  },
);
