import { expect, it } from "vitest";
import type { EnrichedRow } from "../../../../src/core/row.js";
import { ecs, esBulk } from "../../../../src/io/formats/shapes/ecs.js";
import { maliciousRow, options } from "./shaped-rows.js";

type Json = Readonly<Record<string, unknown>>;

const linesOf = (text: string): readonly Json[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);

const idOf = (row: EnrichedRow, given = options): unknown =>
  (linesOf(esBulk.write(given).encode([row]))[0]!["index"] as Json)["_id"];

it("writes an action line and an ECS document for each row", () => {
  const text = esBulk.write(options).encode([maliciousRow]);
  const [action, document] = linesOf(text);
  expect(text.endsWith("}\n")).toBe(true);
  expect(action).toEqual({ index: { _id: expect.stringMatching(/^[0-9a-f]{40}$/) } });
  expect(document).toEqual(JSON.parse(ecs.write(options).encode([maliciousRow])));
});

it("identifies a document by its row, never by the answer", () => {
  const { row, finding } = maliciousRow;
  const asked = { ...maliciousRow, finding: { ...finding, lookedUpAt: "2030-01-01T00:00:00Z" } };
  expect(idOf(asked)).toBe(idOf(maliciousRow));
  const moved = { ...maliciousRow, row: { ...row, number: row.number + 1 } };
  const edited = { ...maliciousRow, row: { ...row, cells: ["something else"] } };
  expect(new Set([maliciousRow, moved, edited].map((each) => idOf(each))).size).toBe(3);
});

it("identifies a document by its item if that is asked for", () => {
  const byItem = { ...options, esId: "item" } as const;
  const { row, item } = maliciousRow;
  const moved = { ...maliciousRow, row: { ...row, number: row.number + 1, cells: ["spelt else"] } };
  expect(idOf(moved, byItem)).toBe(idOf(maliciousRow, byItem));
  const kinds = ["ip", "domain", "url"] as const;
  const ids = kinds.map((kind) =>
    idOf({ ...maliciousRow, item: { kind, value: item!.value } }, byItem),
  );
  expect(new Set(ids).size).toBe(3);
  expect(
    idOf({ ...maliciousRow, item: { kind: "url", value: "x".repeat(9_000) } }, byItem),
  ).toMatch(/^[0-9a-f]{40}$/);
  const without = [
    { ...maliciousRow, item: null },
    { ...moved, item: null },
  ];
  expect(without.map((each) => idOf(each, byItem))).toEqual(without.map((each) => idOf(each)));
  expect(new Set(without.map((each) => idOf(each, byItem))).size).toBe(2);
});

it("creates documents", () => {
  const text = esBulk.write({ ...options, esAction: "create" }).encode([maliciousRow]);
  expect(linesOf(text)[0]).toEqual({ create: { _id: idOf(maliciousRow) } });
});
