import { UsageError } from "../../../core/errors.js";
import type { NameParts } from "../../../core/files/output-names.js";
import {
  decimalDigits,
  isDecimal,
  type PlainType,
  type StoredType,
} from "../../formats/column-types.js";
import type { CopiedTable, CopyOptions } from "../../input/table-input.js";
import type { Stage } from "../stage.js";
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
  /** The text of a member of a JSON object: null for none. */
  readonly memberOf: (json: string, name: string) => string;
  /** A list that can be compared. */
  readonly comparable: (list: string) => string;
  /** SELECT of the first row of each group. */
  readonly firstRows: (rows: RowGroups) => string;
}

/** The same of a database that runs write to. Implement this to support another one. */
export interface Dialect extends SchemaDialect {
  /** Parses the address of a table; null for anything else. @throws UsageError */
  readonly parseAddress: (name: string) => TableAddress | null;
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
  memberOf: (json, name) => `(${json} ->> '${name}')`,
  comparable: (list) => list,
  replaceStored: (insert, key, columns) =>
    `${insert} ON CONFLICT (${key}) DO UPDATE SET ${excluded(columns)}`,
} satisfies Partial<Dialect>;

/** Takes columns from the row that is not inserted. */
export function excluded(columns: readonly string[]): string {
  return columns.map((name) => `${name} = excluded.${name}`).join(", ");
}

/** First rows with `QUALIFY`, as DuckDB and BigQuery have it. */
export function qualifiedRows({ from, where, group, order }: RowGroups): string {
  return `SELECT *\n${from}\n${where}\nQUALIFY row_number() OVER (PARTITION BY ${group} ORDER BY ${order}) = 1`;
}

/** The address of a table, or of a database of which a query selects rows. */
export interface TableAddress {
  readonly dialect: Dialect;
  /** The database for messages, without a password. */
  readonly place: string;
  readonly table: TableName;
  /** The file of the database; null for a server. */
  readonly database: string | null;
  readonly parts: NameParts;
  /** As in `Output`. */
  readonly base: (stateDir?: string) => string;
  /**
   * Opens the database and does some work in one transaction, again if the connection is lost: also if
   * only the confirmation of its end was. Undoes the work unless it is to write.
   *
   * @throws ReputeError; the signal's reason if it aborts waiting for a server
   */
  readonly transact: <T>(
    options: AccessOptions,
    work: (session: TableSession) => Promise<T>,
  ) => Promise<T>;
}

export interface Selection {
  /** A single statement that returns rows. */
  readonly query: string;
  /** Whether the user wrote it. */
  readonly isOwn: boolean;
}

export interface AccessOptions extends CopyOptions {
  /** Of what is used of the database, for messages. */
  readonly name: string;
  /** Reading requires no write permission. A check creates no file, and undoes what it writes. */
  readonly access: "read" | "write" | "check";
}

/** A transaction, with what databases do differently. */
export interface TableSession {
  readonly dialect: Dialect;
  readonly query: Query;
  /** Waits for a lock and holds it until the end of the transaction; for servers only. */
  lock?(name: string): Promise<void>;
  /** Finds a table, or another object of that name, with its schema; null if there is none. */
  find(table: TableName): Promise<FoundTable | null>;
  factsOf(table: TableName): Promise<TableFacts>;
  /** Keeps others from writing to a table until the end of the transaction; for servers only. */
  lockTable?(table: TableName): Promise<void>;
  /**
   * Verifies staged rows and makes them something to select from, with their cells as `cells`. They
   * stay until the end of the transaction.
   *
   * @param stage null for no rows
   * @throws FatalError `output_part_*`
   */
  stagedRows(stage: Stage | null): Promise<string>;
  /** Copies a selection, as `TableInput.copy`. */
  readonly copy: (selection: Selection, path: string | null) => Promise<CopiedTable>;
}

/** Runs a statement with values for `$1`, `$2` … and returns its rows as arrays. */
export type Query = (
  sql: string,
  values?: readonly (string | number | null)[],
) => Promise<readonly (readonly (string | bigint | boolean | null)[])[]>;

interface FoundTable extends TableName {
  /** What it is instead of a table, for messages; null for a table. */
  readonly notTable: string | null;
}

interface TableFacts {
  readonly columns: readonly FoundColumn[];
  /** The columns of each unique key. */
  readonly keys: readonly (readonly string[])[];
}

export interface FoundColumn {
  readonly name: string;
  readonly type: string;
  /** Whether each new row needs a value: the column is NOT NULL, and nothing else fills it. */
  readonly isRequired: boolean;
}

/** What a query returns as JSON. */
export async function tableFacts(rows: ReturnType<Query>): Promise<TableFacts> {
  const [[text] = []] = await rows;
  return JSON.parse(String(text)) as TableFacts;
}

/**
 * @param address its name for messages, without a password
 * @throws UsageError `bad_output` for parameters that are unknown or repeated
 */
export function checkParameters(
  parameters: URLSearchParams,
  known: readonly string[],
  address: string,
  hint: string,
): void {
  const names = [...parameters.keys()];
  const wrong = names.find((name, at) => !known.includes(name) || names.indexOf(name) < at);
  if (wrong === undefined) return;
  // After an unencoded password, the name may be part of it.
  const name = names.some((each) => each.endsWith("password")) ? "" : ` ${JSON.stringify(wrong)}`;
  const what = known.includes(wrong) ? "a repeated" : "an unknown";
  throw new UsageError("bad_output", `${address} has ${what} parameter${name}`, { hint });
}

export function runsTable({ schema, name }: TableName): TableName {
  return { schema, name: `${name}_runs` };
}
