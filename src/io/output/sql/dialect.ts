import type { StoredType, TypedColumn } from "../../formats/typed-column.js";
import { storedType } from "../../formats/stored-types.js";
import { UsageError } from "../../../core/errors.js";

export const dialectNames = ["postgres", "duckdb", "bigquery"] as const;

export type DialectName = (typeof dialectNames)[number];

/** `schema` is null for the database's default schema. */
export interface TableName {
  readonly schema: string | null;
  readonly name: string;
}

export function sqlType(dialect: DialectName, type: StoredType): string {
  return storedType(type).sql[dialect];
}

/** The type's name in the database's catalogue, ignoring case. */
export function catalogueType(dialect: DialectName, type: StoredType): string {
  return sqlType(dialect, type)
    .replace(/^timestamp$/, "timestamp without time zone")
    .replace("timestamptz", "timestamp with time zone")
    .replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE");
}

/**
 * Quotes an identifier. Standard SQL doubles quotes; BigQuery uses backticks and backslash escapes
 * (Lexical structure, Quoted identifiers).
 */
export function quoteIdentifier(dialect: DialectName, name: string): string {
  if (name === "" || name.includes("\0")) {
    throw new UsageError(
      "bad_identifier",
      `${JSON.stringify(name)} is not a valid name in a database: it is empty or contains U+0000`,
    );
  }
  if (dialect !== "bigquery") return `"${name.replaceAll('"', '""')}"`;
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

export function quoteTable(dialect: DialectName, { schema, name }: TableName): string {
  const table = quoteIdentifier(dialect, name);
  return schema === null ? table : `${quoteIdentifier(dialect, schema)}.${table}`;
}

function columnDefinition(dialect: DialectName, column: TypedColumn): string {
  const definition = `${quoteIdentifier(dialect, column.name)} ${sqlType(dialect, column.type)}`;
  return column.nullable ? definition : `${definition} NOT NULL`;
}

/** CREATE TABLE IF NOT EXISTS with the primary key. BigQuery doesn't enforce keys. */
export function createTable(
  dialect: DialectName,
  table: TableName,
  { columns, key }: { readonly columns: readonly TypedColumn[]; readonly key: readonly string[] },
): string {
  const names = key.map((name) => quoteIdentifier(dialect, name)).join(", ");
  const lines = columns.map((column) => columnDefinition(dialect, column));
  lines.push(`PRIMARY KEY (${names})${dialect === "bigquery" ? " NOT ENFORCED" : ""}`);
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n  ${lines.join(",\n  ")}\n);`;
}

/** One ALTER TABLE statement per column, for the user to run; repute never alters a table. */
export function addColumns(
  dialect: DialectName,
  table: TableName,
  columns: readonly TypedColumn[],
): readonly string[] {
  // Added columns are nullable, because existing rows have no value for them.
  return columns.map(
    (column) =>
      `ALTER TABLE ${quoteTable(dialect, table)} ADD COLUMN ${columnDefinition(dialect, { ...column, nullable: true })};`,
  );
}

export const defaultTable = "enriched";

export function parseTableName(text: string): TableName {
  const dot = text.indexOf(".");
  const schema = dot < 0 ? null : text.slice(0, dot);
  const name = text.slice(dot + 1);
  if (name === "" || schema === "" || text.includes("\0")) {
    throw new UsageError("bad_table", `${JSON.stringify(text)} is not a table name`, {
      hint: "write table=NAME or table=SCHEMA.NAME",
    });
  }
  return { schema, name };
}

/**
 * Longest identifier in PostgreSQL, in bytes (manual, section 4.1.1). The server silently truncates
 * longer ones.
 */
export const maxPostgresName = 63;

export const viewSuffixes = {
  newest: "_newest",
  changes: "_changes",
  history: "_history",
} as const;

const [longestSuffix = ""] = Object.values(viewSuffixes).toSorted((a, b) => b.length - a.length);

export function parsePostgresTable(text: string): TableName {
  const table = parseTableName(text);
  mustFit("the schema name", table.schema ?? "", maxPostgresName);
  const suffix = `, including the suffix ${longestSuffix} of a view beside the table`;
  mustFit("the table name", table.name, maxPostgresName - longestSuffix.length, suffix);
  return table;
}

function mustFit(what: string, name: string, longest: number, more = ""): void {
  const length = Buffer.byteLength(name);
  if (length <= longest) return;
  throw new UsageError(
    "name_too_long",
    `${what} ${name} has ${length} bytes; PostgreSQL allows ${maxPostgresName}${more}`,
    { hint: `choose a name of at most ${longest} bytes` },
  );
}

export function tableText({ schema, name }: TableName): string {
  return schema === null ? name : `${schema}.${name}`;
}
