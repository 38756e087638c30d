import { expect, it } from "vitest";
import { systemClock } from "../../../src/core/clock.js";
import type { Item } from "../../../src/core/item/item.js";
import type { EnrichedRow } from "../../../src/core/row.js";
import {
  bundleEnd,
  bundleHeader,
  encodedId,
  esBulk,
  stix,
} from "../../../src/io/formats/shapes.js";
import type { EncoderOptions } from "../../../src/io/formats/types.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";
import { ipResult } from "../../client/api/answers.js";

const options: EncoderOptions = {
  columns: ["ip"],
  prefix: "rep_",
  shape: "nested",
  clock: { ...systemClock, now: () => Date.parse("2026-05-06T07:08:09.000Z") },
};

/** A row with a full answer that accuses the item. */
const maliciousRow = anEnrichedRow({}, { query: ipResult() });

/** A row that only says that its item is malicious. */
function accused(item: Item): EnrichedRow {
  return anEnrichedRow({ itemText: item.value }, { query: { intent: "malicious" } }, item);
}

const harmless = { intent: "none", serviceMailBlocklist: "NOT_LISTED", tags: [] };
const unknownRow = anEnrichedRow({}, { query: { ...ipResult(), ...harmless } });

/** Rows without an answer, one per status. */
const unansweredRows = (
  [
    ["unsupported", "file_name"],
    ["invalid", "invalid_item"],
    ["failed", "http_404"],
  ] as const
).map(([status, code]) =>
  anEnrichedRow({}, { status, lookedUpAt: null, error: { code, message: "no" } }, null),
);

const url: Item = { kind: "url", value: "https://example.com:8443/a?b=1#c" };

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-[45][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

it("writes a bundle with an identity and one indicator per item", () => {
  const { type, id, objects } = bundleOf([maliciousRow]);
  expect(type).toBe("bundle");
  expect(id).toMatch(new RegExp(`^bundle--${uuid}$`));
  const [identity, indicator, ...more] = objects;
  expect(more).toEqual([]);
  expect(identity).toMatchObject({ type: "identity", name: "repute" });
  expect(indicator).toEqual({
    type: "indicator",
    id: "indicator--76827d50-5782-5117-baa6-c025e1e8c44d",
    spec_version: "2.1",
    created_by_ref: identity?.["id"],
    created: "2020-01-01T00:00:00.000Z",
    modified: "2026-01-02T03:04:05.000Z",
    name: "192.0.2.1",
    indicator_types: ["malicious-activity"],
    pattern: "[ipv4-addr:value = '192.0.2.1']",
    pattern_type: "stix",
    pattern_version: "2.1",
    valid_from: "2023-01-02T03:04:05.000Z",
    labels: ["credentials:brute-force", "scanner:web"],
  });
});

it.each<[Item["kind"], string, string]>([
  ["ip", "2001:db8::1", "[ipv6-addr:value = '2001:db8::1']"],
  ["domain", "example.com", "[domain-name:value = 'example.com']"],
  ["url", url.value, "[url:value = 'https://example.com:8443/a?b=1#c']"],
  ["sha1", "da39a3", "[file:hashes.'SHA-1' = 'da39a3']"],
  ["email", "o'neill\\x@example.org", "[email-addr:value = 'o\\'neill\\\\x@example.org']"],
  ["crypto_wallet", "bc1qw5", "[cryptocurrency-wallet:value = 'bc1qw5']"],
])("has a STIX pattern for %s %s", (kind, value, pattern) => {
  expect(indicatorsOf([accused({ kind, value })])[0]).toMatchObject({ pattern, name: value });
});

it("writes no indicator for unknown items and failed lookups", () => {
  expect(indicatorsOf([unknownRow, ...unansweredRows])).toEqual([]);
});

it.each([
  [{ intent: "malicious" }, "malicious-activity"],
  [{ intent: "suspicious" }, "anomalous-activity"],
  [{ intent: "unknown", serviceMailBlocklist: "ACTIVE" }, "unknown"],
])("calls %j %s", (query, type) => {
  const [indicator] = indicatorsOf([anEnrichedRow({}, { query })]);
  expect(indicator).toMatchObject({ indicator_types: [type] });
});

it("uses the lookup time if the item's own is unknown, never one before created", () => {
  const [indicator] = indicatorsOf([accused(url)]);
  expect(indicator).toMatchObject({ valid_from: "2026-01-02T03:04:05.000Z" });
  expect(indicator).not.toHaveProperty("labels");
  const old = anEnrichedRow({}, { query: ipResult(), lookedUpAt: "2019-01-01T00:00:00Z" });
  expect(indicatorsOf([old])[0]).toMatchObject({ modified: "2020-01-01T00:00:00.000Z" });
});

it("gives an item the same identifier in every run", () => {
  const id = indicatorsOf([accused(url)])[0]?.["id"];
  const [other] = indicatorsOf([anEnrichedRow({}, { query: { intent: "suspicious" } }, url)]);
  expect([other?.["id"], encodedId(stix.write(options).encode([accused(url)]))]).toEqual([id, id]);
});

it("writes documents with the time of the answer and everything as received", () => {
  const { repute, ...document } = documentOf(maliciousRow);
  expect(document).toEqual({ "@timestamp": "2026-01-02T03:04:05.000Z" });
  expect(repute).toMatchObject({ verdict: "malicious", status: "complete", query: ipResult() });
  expect(documentOf(unknownRow).repute).toMatchObject({ verdict: "none", status: "complete" });
  const documents = unansweredRows.map((row) => documentOf(row));
  expect(documents.map((each) => [each["@timestamp"], each.repute])).toMatchObject(
    unansweredRows.map(({ finding: { status, error } }) => [
      "2026-05-06T07:08:09.000Z",
      { status, error },
    ]),
  );
});

const fault = { code: "input_row", message: "not JSON" } as const;

it.each<[string, EnrichedRow, object]>([
  [
    "the input's columns, whatever their names",
    anEnrichedRow({ number: 7, cells: ["a", 'b"', "c"], extra: '["d"]' }),
    { row: 7, input: { ip: "a", ip_2: 'b"', column_3: "c", repute: "" }, extra: ["d"] },
  ],
  [
    "an NDJSON record",
    anEnrichedRow({ json: '{"ip":"192.0.2.1","n":1.10}', extra: '{"n":1.10}' }),
    { input: { ip: "192.0.2.1", n: 1.1 } },
  ],
  [
    "a line that isn't a record",
    anEnrichedRow({ fault, extra: '"{oops"' }, { status: "failed", error: fault }, null),
    { input: null, extra: "{oops" },
  ],
])("documents keep %s", (_, row, repute) => {
  const given = { ...options, columns: ["ip", "ip", "", "repute"] };
  expect(documentOf(row, given).repute).toMatchObject(repute);
  expect(esBulk.write(given).encode([row])).toContain(row.row.json ?? "");
});

const idOf = (row: EnrichedRow, given = options): unknown => linesOf(row, given)[0]["index"]?._id;

it("identifies a document by its row, never by the answer", () => {
  const { row, finding } = maliciousRow;
  const asked = { ...maliciousRow, finding: { ...finding, lookedUpAt: "2030-01-01T00:00:00Z" } };
  expect(idOf(maliciousRow)).toMatch(/^[0-9a-f]{40}$/);
  expect(idOf(asked)).toBe(idOf(maliciousRow));
  const moved = { ...maliciousRow, row: { ...row, number: row.number + 1 } };
  const edited = { ...maliciousRow, row: { ...row, cells: ["something else"] } };
  expect(new Set([maliciousRow, moved, edited].map((each) => idOf(each))).size).toBe(3);
});

it("identifies a document by its item if that is asked for", () => {
  const byItem = { ...options, esId: "item" } as const;
  const { row, item } = maliciousRow;
  const other = { ...row, number: row.number + 1, cells: ["spelt else"] };
  const moved = { ...maliciousRow, row: other };
  expect(idOf(moved, byItem)).toBe(idOf(maliciousRow, byItem));
  const kinds = ["ip", "domain", "url"] as const;
  const ids = kinds.map((kind) =>
    idOf({ ...maliciousRow, item: { kind, value: item!.value } }, byItem),
  );
  expect(new Set(ids).size).toBe(3);
  const without = [
    { ...maliciousRow, item: null },
    { ...moved, item: null },
  ];
  expect(without.map((each) => idOf(each, byItem))).toEqual(without.map((each) => idOf(each)));
  expect(new Set(without.map((each) => idOf(each, byItem))).size).toBe(2);
});

it("creates documents", () => {
  const [action] = linesOf(maliciousRow, { ...options, esAction: "create" });
  expect(action).toEqual({ create: { _id: idOf(maliciousRow) } });
});

interface Bundle {
  readonly type: string;
  readonly id: string;
  readonly objects: readonly Record<string, unknown>[];
}

function bundleOf(rows: readonly EnrichedRow[]): Bundle {
  const encoder = stix.write(options);
  return JSON.parse(bundleHeader("a run") + encoder.encode(rows) + bundleEnd) as Bundle;
}

function indicatorsOf(rows: readonly EnrichedRow[]): readonly Record<string, unknown>[] {
  return bundleOf(rows).objects.filter(({ type }) => type === "indicator");
}

type Action = Readonly<Record<string, { readonly _id: string }>>;
type Document = { readonly "@timestamp": string; readonly repute: object };

function linesOf(row: EnrichedRow, given = options): readonly [Action, Document] {
  const [action = "", document = "", end] = esBulk.write(given).encode([row]).split("\n");
  expect(end).toBe("");
  return [JSON.parse(action) as Action, JSON.parse(document) as Document];
}

function documentOf(row: EnrichedRow, given = options): Document {
  return linesOf(row, given)[1];
}
