import type { TypedColumn } from "../../../../src/io/formats/typed-column.js";
import type { TableSchema } from "../../../../src/io/output/typed/table-schema.js";
import { expect, it } from "vitest";
import { duckdb } from "../../../../src/io/output/duckdb/dialect.js";
import { postgres } from "../../../../src/io/output/postgres/dialect.js";
import { checkTable } from "../../../../src/io/output/sql/prepare-table.js";

const table = { schema: "intel", name: 'odd"name' };
const columns: readonly TypedColumn[] = [
  { name: "rep_run_id", type: "text", nullable: false },
  { name: "Note", type: "text", nullable: true },
  { name: "rep_tags", type: "text[]", nullable: true },
];

const rowKey = ["rep_run_id", "rep_row"] as const;

const tableOf = (typed: readonly TypedColumn[]): TableSchema => ({
  columns: typed.map((column) => ({ ...column, description: "", from: { kind: "row" } })),
  rowKey,
  key: rowKey,
  mode: "append",
  prefix: "rep_",
});

const check = (
  dialect: "duckdb" | "postgres",
  ...found: (readonly [name: string, type: string])[]
) =>
  checkTable(
    { duckdb, postgres }[dialect],
    table,
    tableOf(columns),
    found.map(([name, type]) => ({ name, type, isRequired: false })),
  );

it("distinguishes names by case only in PostgreSQL", () => {
  const found: [string, string][] = [
    ["rep_run_id", "varchar"],
    ["note", "varchar"],
    ["rep_tags", "varchar[]"],
  ];
  expect(() => check("duckdb", ...found)).not.toThrow();
  expect(() => check("postgres", ...found)).toThrow(/lacks the column Note/);
});
