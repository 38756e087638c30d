import { expect, it } from "vitest";
import { esBulk } from "../../../../src/io/formats/shapes/es-bulk.js";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { anEnrichedRow, fullIpResult } from "../../../helpers/enriched-rows.js";
import { maliciousRow, options, unansweredRows, unknownRow } from "./shaped-rows.js";

it("writes the time of the answer and everything as received", () => {
  const { repute, ...document } = documentOf(maliciousRow);
  expect(document).toEqual({ "@timestamp": "2026-01-02T03:04:05.000Z" });
  expect(repute).toMatchObject({ verdict: "malicious", status: "complete", query: fullIpResult });
  expect(documentOf(unknownRow).repute).toMatchObject({ verdict: "none", status: "complete" });
});

it("writes every row with its status and error", () => {
  const documents = unansweredRows.map((row) => documentOf(row).repute);
  expect(documents.map(({ status, error }) => [status, error?.code])).toEqual([
    ["unsupported", "file_name"],
    ["invalid", "invalid_item"],
    ["failed", "http_404"],
  ]);
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
])("keeps %s", (_, row, repute) => {
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
  const moved = {
    ...maliciousRow,
    row: { ...row, number: row.number + 1, cells: ["spelt else"] },
  };
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

interface Document {
  readonly "@timestamp": string;
  readonly repute: { readonly status: string; readonly error?: { readonly code: string } };
}

type Action = Readonly<Record<string, { readonly _id: string }>>;

function linesOf(row: EnrichedRow, given = options): readonly [Action, Document] {
  const [action = "", document = "", end] = esBulk.write(given).encode([row]).split("\n");
  expect(end).toBe("");
  return [JSON.parse(action) as Action, JSON.parse(document) as Document];
}

function documentOf(row: EnrichedRow, given = options): Document {
  return linesOf(row, given)[1];
}
