import { readFile } from "node:fs/promises";
import { DuckDBListValue } from "@duckdb/node-api";
import { expect } from "vitest";
import { systemClock } from "../../src/core/clock.js";
import type { JsonObject } from "../../src/core/finding.js";
import type { Item } from "../../src/core/item/item.js";
import { publishRows } from "../io/output/publication/publishing.js";
import { anEnrichedRow, type FindingParts } from "./enriched-rows.js";

/** The documented example queries, keyed by their leading comment. */
export async function documentedQueries(): Promise<ReadonlyMap<string, string>> {
  const page = await readFile(new URL("../../docs/warehouses.md", import.meta.url), "utf8");
  const [, sql = ""] = /<!-- morning queries -->\n```sql\n([^]*?)```/.exec(page) ?? [];
  const queries = sql.split(";\n").filter((text) => text.trim() !== "");
  return new Map(
    queries.map((text) => {
      const [heading = "", ...statement] = text.trim().split("\n");
      return [heading.replace(/^-- /, ""), statement.join("\n")];
    }),
  );
}

/**
 * The result of each query over the rows of `writeTwoNights`. Times are only checked to be times.
 */
const answers: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
  "Newly malicious since yesterday": [
    ["domain", "login.example.com", "a time"],
    ["ip", "192.0.2.1", "a time"],
    ["ip", "198.51.100.7", "a time"],
    ["url", "https://example.net/pay", "a time"],
  ],
  "How long something was listed": [["malicious", "a time", null, "a time"]],
  "Rows of tonight": [
    ["1", "192.0.2.1", "complete", "malicious"],
    ["2", "192.0.2.2", "complete", "malicious"],
    ["3", "login.example.com", "complete", "malicious"],
    ["4", "192.0.2.9", "failed", null],
    ["5", "https://example.net/pay", "complete", "malicious"],
    ["6", "https://example.net/a", "complete", "malicious"],
    ["7", "198.51.100.7", "failed", "malicious"],
  ],
  "Items with a tag": [
    ["ip", "192.0.2.1", "a time"],
    ["ip", "192.0.2.2", null],
  ],
  "The most common tags": [
    ["credentials:brute-force", "2"],
    ["phishing:credential-page", "1"],
  ],
  "Networks by number of malicious addresses": [
    ["AS64496", "Example Hosting", "2"],
    ["AS64511", "Example Transit", "1"],
    [null, null, "1"],
  ],
};

/**
 * Runs every documented query and compares its rows with the expected ones.
 *
 * @param ask runs a query; values as the driver returns them
 */
export async function checkDocumentedQueries(
  ask: (query: string) => Promise<readonly (readonly unknown[])[]>,
): Promise<void> {
  const queries = await documentedQueries();
  expect([...queries.keys()]).toEqual(Object.keys(answers));
  for (const [heading, query] of queries) {
    const rows = await ask(query);
    expect([heading, rows.map((row) => row.map(plain))]).toEqual([heading, answers[heading]]);
  }
}

/** Counts may be bigint or text, and lists, times and intervals objects of the driver. */
function plain(value: unknown): unknown {
  if (value instanceof DuckDBListValue) return value.items.join();
  if (Array.isArray(value)) return value.join();
  if (value === null || typeof value === "string") return value;
  return typeof value === "bigint" || typeof value === "number" ? String(value) : "a time";
}

const hour = 3_600_000;

/** Writes the rows of two nights to a table. */
export async function writeTwoNights(output: string, folder: string, now: number): Promise<void> {
  type Answered = readonly [item: Item | null, query: JsonObject | null, finding?: FindingParts];
  const hosting = { asn: "AS64496", name: "Example Hosting", countryCode: "NL" };
  const transit = { asn: "AS64511", name: "Example Transit", countryCode: "DE" };
  const brute = { intent: "malicious", tags: ["credentials:brute-force"], asn: hosting };
  const login: Item = { kind: "domain", value: "login.example.com" };
  // The query answer has no intent for URLs, but the quick check does.
  const malicious = { quickCheck: { intent: "malicious" } };
  const publish = (runId: string, hours: number, rows: readonly Answered[]) => {
    const lookedUpAt = new Date(now - (hours + 1) * hour).toISOString();
    const enriched = rows.map(([item, query, finding], index) => {
      const row = { number: index + 1, cells: [item?.value ?? "?"] };
      return anEnrichedRow(row, { lookedUpAt, query, ...finding }, item);
    });
    const clock = { ...systemClock, now: () => now - hours * hour };
    return publishRows(output, folder, enriched, { runId, columns: ["item"], clock });
  };
  await publish("first night", 48, [
    [ip("192.0.2.1"), { intent: "none", tags: [], asn: hosting }],
    [ip("192.0.2.2"), { ...brute, tags: [...brute.tags, "spam:snowshoe"] }],
    [ip("192.0.2.3"), { intent: "malicious", tags: null, asn: transit }],
    [ip("192.0.2.2"), brute, { source: "duplicate" }],
    [null, null, { status: "unsupported", lookedUpAt: null, httpStatus: null }],
    [page("a"), { type: "URL" }, malicious],
  ]);
  await publish("second night", 1, [
    [ip("192.0.2.1"), { ...brute, lastSeen: "2026-01-01T00:00:00Z" }],
    [ip("192.0.2.2"), brute],
    [login, { intent: "malicious", tags: ["phishing:credential-page"] }],
    [ip("192.0.2.9"), null, { status: "failed", httpStatus: 404 }],
    [page("pay"), { type: "URL" }, malicious],
    [page("a"), { type: "URL" }, malicious],
    [ip("198.51.100.7"), null, { status: "failed", ...malicious }],
  ]);
}

function page(path: string): Item {
  return { kind: "url", value: `https://example.net/${path}` };
}

function ip(value: string): Item {
  return { kind: "ip", value };
}
