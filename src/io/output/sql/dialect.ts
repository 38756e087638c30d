import { decimalDigits, isDecimal } from "../../formats/column-types.js";
import type { PlainType, StoredType, TypedColumn } from "../../formats/typed-column.js";
import { UsageError } from "../../../core/errors.js";
import type { ColumnRules } from "../typed/table-schema.js";

/** What the tables and views of a database have of their own in SQL. */
export interface SchemaDialect {
  readonly name: string;
  /** What `repute schema` prints for it. */
  readonly about: string;
  readonly rules: ColumnRules;
  /** Its types. Times are UTC with microseconds. */
  readonly types: Readonly<Record<PlainType, string>>;
  readonly decimal: (precision: number, scale: number) => string;
  readonly maxColumns: number;
  readonly quote: (name: string) => string;
  /** Parses `table=`. @throws UsageError `bad_table`, `name_too_long` */
  readonly parseTable: (text: string) => TableName;
  /** PRIMARY KEY of these quoted columns. */
  readonly primaryKey: (columns: string) => string;
  /** Whether a text is in a list. */
  readonly isIn: (text: string, list: string) => string;
  /** A list that can be compared. */
  readonly comparable: (list: string) => string;
  /** SELECT of the first row of each group. */
  readonly firstRows: (rows: RowGroups) => readonly string[];
}

/** The same of a database that runs write to. */
export interface Dialect extends SchemaDialect {
  /** Names of types in its catalogue, where they differ. */
  readonly catalogue: Readonly<Record<string, string>>;
  readonly isCaseSensitive: boolean;
  /** The value of a staged cell, counted from 0, as a type. */
  readonly staged: (index: number, type: StoredType) => string;
  /** Bytes of a key that surely fit into an index. @default any */
  readonly maxKeyBytes?: number;
  /** A value of a statement, counted from 1. */
  readonly parameter: (number: number) => string;
  /** A time before any other. */
  readonly earliest: string;
  /** An INSERT that replaces stored rows of the same key. */
  readonly replaceStored: (insert: string, key: string, columns: readonly string[]) => string;
  /** Statements that merge rows into a table, where the newer row of a key stays. */
  readonly merge: (rows: MergedRows) => readonly string[];
}

/** Rows of a table in groups, as SQL. */
interface RowGroups {
  readonly from: string;
  readonly where: string;
  readonly group: string;
  readonly order: string;
}

/** Rows that are merged, as SQL. */
interface MergedRows {
  /** The table, which statements name `t`. */
  readonly to: string;
  /** SELECT of the rows, one per key. */
  readonly newest: string;
  readonly key: readonly string[];
  readonly columns: readonly string[];
  /** How new a row is, of a table of this name. */
  readonly age: (table: string) => string;
}

/** `schema` is null for the database's default schema. */
export interface TableName {
  readonly schema: string | null;
  readonly name: string;
}

export function sqlType({ types, decimal }: SchemaDialect, type: StoredType): string {
  if (!isDecimal(type)) return types[type];
  const { precision, scale } = decimalDigits(type);
  return decimal(precision, scale);
}

/** Whether a dialect stores values of a type as text. */
export function lacksType(types: SchemaDialect["types"]): ColumnRules["lacks"] {
  return (type) => !isDecimal(type) && types[type] === types.text && type !== "text";
}

/** Standard SQL doubles quotes. */
export function doubleQuoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteTable(dialect: SchemaDialect, { schema, name }: TableName): string {
  const table = dialect.quote(name);
  return schema === null ? table : `${dialect.quote(schema)}.${table}`;
}

export function columnDefinition(dialect: SchemaDialect, column: TypedColumn): string {
  const definition = `${dialect.quote(column.name)} ${sqlType(dialect, column.type)}`;
  return column.nullable ? definition : `${definition} NOT NULL`;
}

/** CREATE TABLE IF NOT EXISTS with the primary key. */
export function createTable(
  dialect: SchemaDialect,
  table: TableName,
  { columns, key }: { readonly columns: readonly TypedColumn[]; readonly key: readonly string[] },
): string {
  const names = key.map((name) => dialect.quote(name)).join(", ");
  const lines = columns.map((column) => columnDefinition(dialect, column));
  lines.push(dialect.primaryKey(names));
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n  ${lines.join(",\n  ")}\n);`;
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

export function tableText({ schema, name }: TableName): string {
  return schema === null ? name : `${schema}.${name}`;
}

/** What PostgreSQL and DuckDB have in common. */
export const standardSql = {
  quote: doubleQuoted,
  primaryKey: (columns) => `PRIMARY KEY (${columns})`,
  parameter: (number) => `$${number}`,
  earliest: "'-infinity'",
  isIn: (text, list) => `${text} = ANY(${list})`,
  comparable: (list) => list,
  replaceStored: (insert, key, columns) =>
    `${insert} ON CONFLICT (${key}) DO UPDATE SET ${excluded(columns)}`,
} satisfies Partial<Dialect>;

/** Takes columns from the row that is not inserted. */
export function excluded(columns: readonly string[]): string {
  return columns.map((name) => `${name} = excluded.${name}`).join(", ");
}

/** First rows with `QUALIFY`, as DuckDB and BigQuery have it. */
export function qualifiedRows({ from, where, group, order }: RowGroups): readonly string[] {
  const first = `QUALIFY row_number() OVER (PARTITION BY ${group} ORDER BY ${order}) = 1`;
  return ["SELECT *", from, where, first];
}
