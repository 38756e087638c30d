import { join } from "node:path";
import { expect, test } from "vitest";
import type { QueryResult } from "../../src/core/endpoints/query.js";
import { caseStates } from "../../src/client/api/calls.js";
import { resultTypes, blocklistStatuses } from "../../src/core/endpoints/endpoint.js";
import { loadDataset, sampleDataset } from "../../src/service/dataset.js";
import { contradictoryTimes } from "../helpers/contradictory-times.js";
import { workspace } from "../helpers/workspace.js";

const folderOf = async (files: Readonly<Record<string, string>>) => (await workspace(files)).cwd;

function lines(...values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

const url = { item: "http://example.com/a", serviceMailBlocklist: "ACTIVE", type: "URL" };
const domain = {
  item: "example.com",
  serviceMailBlocklist: null,
  type: "DOMAIN",
  tags: [] as string[],
  firstSeen: null,
  lastSeen: null,
  intent: null,
  observedActivity: null,
};
const tag = { tag: { name: "a:b" }, lastUpdate: "2024-01-01T00:00:00Z" };
const webhook = { name: "w", endpoint: "http://127.0.0.1:8025", method: "POST", payload: {} };

test("the packaged dataset has every type of result, every status and no status, and a case in every state", async () => {
  const { cases, items } = await loadDataset(sampleDataset);
  const results = [...items.values()].flatMap((entry) => ("result" in entry ? entry.result : []));
  expect(results.flatMap((result) => contradictoryTimes(result))).toEqual([]);
  expect(new Set(results.map(({ type }) => type))).toEqual(new Set(resultTypes));
  const statuses = results.map((result: Partial<QueryResult>) =>
    "serviceMailBlocklist" in result ? result.serviceMailBlocklist : undefined,
  );
  expect(statuses).toEqual(expect.arrayContaining([...blocklistStatuses, null]));
  expect(new Set([...cases.values()].map(({ state }) => state))).toEqual(new Set(caseStates));
  const addresses = [...cases.values()].flatMap((entry) => entry.event_ips ?? []);
  expect(addresses.filter((address) => !items.has(address))).toEqual([]);
});

test("an empty folder is an empty dataset", async () => {
  const dataset = await loadDataset(await folderOf({}));
  expect(dataset.items.size + dataset.tags.size + dataset.customers.length).toBe(0);
});

test("reads a BOM, CRLF and blank lines", async () => {
  const text = `\uFEFF${JSON.stringify({ result: url })}\r\n\r\n`;
  const { items } = await loadDataset(await folderOf({ "items.ndjson": text }));
  expect([...items.keys()]).toEqual([url.item]);
});

test("a tag's list holds its entries once, IPv4 first, IPv6 as in RFC 5952", async () => {
  const entries = ["2001:DB8:0::1", "203.0.113.9", "192.0.2.1", "203.0.113.9", "2001:db8::1"];
  const { tags } = await loadDataset(await folderOf({ "tags.ndjson": lines({ ...tag, entries }) }));
  expect(tags.get("a:b")?.list).toEqual(["203.0.113.9", "192.0.2.1", "2001:db8::1"]);
});

test("names a folder that does not exist", async () => {
  const folder = join(await folderOf({}), "nowhere");
  await expect(loadDataset(folder)).rejects.toMatchObject({
    code: "dataset_not_found",
    message: expect.stringContaining(folder) as string,
  });
});

test.each<[string, Record<string, string>, string, string]>([
  [
    "broken JSON",
    { "items.ndjson": `${lines({ result: url })}\n{"result":` },
    "items.ndjson:3",
    "not valid JSON",
  ],
  [
    "a missing member",
    { "items.ndjson": lines({ result: { ...url, serviceMailBlocklist: undefined } }) },
    "items.ndjson:1",
    "result.serviceMailBlocklist",
  ],
  [
    "an item that is not in its normal form",
    { "items.ndjson": lines({ result: { ...domain, item: "Example.COM" } }) },
    "items.ndjson:1",
    'write "Example.COM" in its normal form, "example.com"',
  ],
  [
    "an invalid item",
    { "items.ndjson": lines({ result: { ...domain, item: "10.0.0.0/8" } }) },
    "items.ndjson:1",
    "CIDR",
  ],
  [
    "a duplicate item",
    { "items.ndjson": lines({ result: url }, { result: domain }, { result: url }) },
    "items.ndjson:3",
    "items.ndjson:1",
  ],
  [
    "an item with a tag that does not exist",
    { "items.ndjson": lines({ result: url, note: "" }, { result: { ...domain, tags: ["a:x"] } }) },
    "items.ndjson:2",
    '"a:x"',
  ],
  ...["192.0.2.300", "192.0.2", "192.0.2.01", "192.0.2.1/24", "fe80::1%1", "x"].map(
    (entry): [string, Record<string, string>, string, string] => [
      `the entry ${entry}, which is not an address`,
      { "tags.ndjson": lines({ ...tag, entries: ["192.0.2.1", entry] }) },
      "tags.ndjson:1",
      entry,
    ],
  ),
  [
    "a transition of no webhook",
    {
      "webhooks.ndjson": lines(webhook),
      "transitions.ndjson": lines({ to: "CLOSED", webhook: "x" }),
    },
    "transitions.ndjson:1",
    '"x"',
  ],
  ["a file with a name that no dataset has", { "item.ndjson": "" }, "item.ndjson", "items.ndjson"],
])("refuses %s and names its place", async (_, files, where, what) => {
  const loading = loadDataset(await folderOf(files));
  const escaped = [where, what].map((text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  await expect(loading).rejects.toMatchObject({
    code: "dataset_invalid",
    message: expect.stringMatching(new RegExp(`${escaped[0]}: .*${escaped[1]}`)) as string,
  });
});
