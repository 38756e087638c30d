import type { ColumnType } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";

/** The databases that a table can be described for. */
export const dialectNames = ["postgres", "duckdb", "bigquery"] as const;

export type DialectName = (typeof dialectNames)[number];

/** `schema` null stands for the database's default. */
export interface TableName {
  readonly schema: string | null;
  readonly name: string;
}

export interface SqlColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** False for the two columns of the key. */
  readonly nullable: boolean;
}

/** Small table beside the enriched one: the newest checkpoint of each unfinished run. */
export const checkpointTableName = "repute_checkpoint";

/**
 * Names of the types. Times are instants: microseconds in UTC in all three. PostgreSQL 16, 8.1;
 * DuckDB, Data Types; BigQuery, Data types.
 */
const types: Readonly<Record<DialectName, Readonly<Record<ColumnType, string>>>> = {
  postgres: {
    text: "text",
    boolean: "boolean",
    count: "bigint",
    timestamp: "timestamptz",
    "text[]": "text[]",
  },
  duckdb: {
    text: "VARCHAR",
    boolean: "BOOLEAN",
    count: "BIGINT",
    timestamp: "TIMESTAMPTZ",
    "text[]": "VARCHAR[]",
  },
  bigquery: {
    text: "STRING",
    boolean: "BOOL",
    count: "INT64",
    timestamp: "TIMESTAMP",
    "text[]": "ARRAY<STRING>",
  },
};

export function sqlType(dialect: DialectName, type: ColumnType): string {
  return types[dialect][type];
}

/** The same as a database's catalogue calls it, letter case aside. */
export function catalogueType(dialect: DialectName, type: ColumnType): string {
  return sqlType(dialect, type)
    .replace("timestamptz", "timestamp with time zone")
    .replace("TIMESTAMPTZ", "TIMESTAMP WITH TIME ZONE");
}

/**
 * Quotes a name as an identifier: SQL doubles the quote; BigQuery has backticks and backslash
 * escapes (Lexical structure, Quoted identifiers).
 *
 * @throws UsageError `bad_identifier` for an empty name or one with U+0000, which none of them has
 */
export function quoteIdentifier(dialect: DialectName, name: string): string {
  if (name === "" || name.includes("\0")) {
    throw new UsageError(
      "bad_identifier",
      `${JSON.stringify(name)} cannot be a name in a database`,
    );
  }
  if (dialect !== "bigquery") return `"${name.replaceAll('"', '""')}"`;
  return `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``;
}

export function quoteTable(dialect: DialectName, { schema, name }: TableName): string {
  const table = quoteIdentifier(dialect, name);
  return schema === null ? table : `${quoteIdentifier(dialect, schema)}.${table}`;
}

function columnDefinition(dialect: DialectName, column: SqlColumn): string {
  const definition = `${quoteIdentifier(dialect, column.name)} ${sqlType(dialect, column.type)}`;
  return column.nullable ? definition : `${definition} NOT NULL`;
}

/** CREATE TABLE IF NOT EXISTS with the key. BigQuery declares keys but does not enforce them. */
export function createTable(
  dialect: DialectName,
  table: TableName,
  { columns, key }: { readonly columns: readonly SqlColumn[]; readonly key: readonly string[] },
): string {
  const names = key.map((name) => quoteIdentifier(dialect, name)).join(", ");
  const lines = columns.map((column) => columnDefinition(dialect, column));
  lines.push(`PRIMARY KEY (${names})${dialect === "bigquery" ? " NOT ENFORCED" : ""}`);
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n  ${lines.join(",\n  ")}\n);`;
}

/** One ALTER TABLE a column, to be shown to a person; repute never runs them. */
export function addColumns(
  dialect: DialectName,
  table: TableName,
  columns: readonly SqlColumn[],
): readonly string[] {
  // A column added to rows that are there already is null in them, whatever it is in a new table.
  return columns.map(
    (column) =>
      `ALTER TABLE ${quoteTable(dialect, table)} ADD COLUMN ${columnDefinition(dialect, { ...column, nullable: true })};`,
  );
}

/** CREATE TABLE IF NOT EXISTS of the checkpoint table, in the schema of the enriched one. */
export function createCheckpointTable(dialect: DialectName, schema: string | null): string {
  const columns: readonly SqlColumn[] = [
    { name: "run_id", type: "text", nullable: false },
    { name: "note", type: "text", nullable: false },
    { name: "saved_at", type: "timestamp", nullable: false },
  ];
  return createTable(dialect, { schema, name: checkpointTableName }, { columns, key: ["run_id"] });
}

/** Table that is written when none is named. */
export const defaultTable = "enriched";

/**
 * Reads `table` or `schema.table`; the first dot divides them.
 *
 * @throws UsageError `bad_table` when a part is empty or holds U+0000
 */
export function parseTableName(text: string): TableName {
  const dot = text.indexOf(".");
  const schema = dot < 0 ? null : text.slice(0, dot);
  const name = text.slice(dot + 1);
  if (name === "" || schema === "" || text.includes("\0")) {
    throw new UsageError("bad_table", `${JSON.stringify(text)} names no table`, {
      hint: "write table=NAME or table=SCHEMA.NAME",
    });
  }
  return { schema, name };
}

/** Longest name in PostgreSQL, in bytes (4.1.1, NAMEDATALEN): the server cuts longer ones silently. */
export const longestPostgresName = 63;

/** What the name of the view beside a table ends with. */
export const newestViewSuffix = "_newest";

/**
 * The same for PostgreSQL, whose names are short.
 *
 * @throws UsageError `bad_table`; `name_too_long` also where the view's name would be too long
 */
export function parsePostgresTable(text: string): TableName {
  const table = parseTableName(text);
  const { schema, name } = table;
  const longest = longestPostgresName - newestViewSuffix.length;
  if (schema !== null && Buffer.byteLength(schema) > longestPostgresName) {
    throw new UsageError(
      "name_too_long",
      `the schema name ${schema} has ${Buffer.byteLength(schema)} bytes; PostgreSQL allows ${longestPostgresName}`,
      { hint: `choose a schema with a name of at most ${longestPostgresName} bytes` },
    );
  }
  if (Buffer.byteLength(name) > longest) {
    throw new UsageError(
      "name_too_long",
      `the table name ${name} has ${Buffer.byteLength(name)} bytes; PostgreSQL allows ${longestPostgresName}, and the view beside the table adds ${newestViewSuffix}`,
      { hint: `choose a name of at most ${longest} bytes` },
    );
  }
  return table;
}

export function tableText({ schema, name }: TableName): string {
  return schema === null ? name : `${schema}.${name}`;
}
