import { isWellFormed, toWellFormed } from "../../../core/bytes.js";
import {
  parquetLacks,
  type InputType,
  type StoredType,
  type TypedColumn,
} from "../../formats/column-types.js";
import { columnClash, type NameRules, uniqueNames } from "../../formats/columns/name-columns.js";
import type { Column, ColumnType } from "../../../core/column.js";
import {
  addedColumns,
  columns as allColumns,
  type OptionalColumns,
} from "../../../core/columns.js";
import { UsageError } from "../../../core/errors.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import type { TableMode } from "../options.js";

export interface TableColumn extends TypedColumn {
  readonly description: string;
  /** Source of its values: the run, an input cell by index, or an added column. */
  readonly from:
    | { readonly kind: "run_id" | "row" | "loaded_at" }
    | { readonly kind: "input"; readonly index: number; readonly name: string }
    | { readonly kind: "added"; readonly column: Column };
}

const leadingColumns = [
  ["run_id", "text", "The run that wrote the row"],
  ["row", "count", "Number of the row in the run's input, from 1"],
  ["loaded_at", "timestamp", "When the row was published"],
] as const;

export const leadingNames = leadingColumns.map(([name]) => name);

export type TableSchema = ReturnType<typeof tableSchema>;

export interface TableSchemaOptions {
  readonly columns: readonly string[];
  /** Their types. @default text */
  readonly types?: readonly InputType[] | undefined;
  /** Prefix of the added columns' names, e.g. `rep_`. */
  readonly prefix: string;
  readonly optional?: OptionalColumns | undefined;
  /** @default append */
  readonly mode?: TableMode | undefined;
  /** Columns of which a merged table has one row per value. @default kind and item */
  readonly key?: readonly string[] | undefined;
}

/**
 * The table that every typed output holds: leading columns, input columns, added columns, in this
 * order.
 *
 * @param rules of the input's columns
 */
export function tableSchema(
  rules: ColumnRules,
  {
    columns: inputColumns,
    types = [],
    prefix,
    optional = {},
    mode = "append",
    key: mergeKey = [`${prefix}kind`, `${prefix}item`],
  }: TableSchemaOptions,
) {
  const rowKey = [`${prefix}run_id`, `${prefix}row`] as const;
  // What has one row.
  const key = mode === "merge" ? mergeKey : rowKey;
  const columnOf = (
    name: string,
    type: StoredType,
    description: string,
    from: TableColumn["from"],
  ): TableColumn => {
    const nullable = ![...rowKey, ...key].includes(name);
    return { name, type, nullable, description, from };
  };
  const leading = leadingColumns.map(([kind, type, description]) =>
    columnOf(prefix + kind, type, description, { kind }),
  );
  const added = addedColumns(optional).map((column) =>
    columnOf(prefix + column.name, column.type, column.description, { kind: "added", column }),
  );
  const taken = [
    ...[...leading, ...added].map(({ name }) => name),
    ...allColumns.map(({ name }) => prefix + name),
  ];
  const input = safeColumnNames(rules, inputColumns, taken).map((name, index) => {
    const from = { kind: "input", index, name: inputColumns[index] ?? "" } as const;
    return columnOf(name, typeIn(rules, types[index]), "Input column, unchanged", from);
  });
  const columns: readonly TableColumn[] = [...leading, ...input, ...added];
  mustHaveKey(columns, key);
  return { columns, rowKey, key, mode, prefix };
}

function typeIn(rules: ColumnRules, input: InputType | undefined): StoredType {
  const { type = null } = input ?? {};
  return type === null || rules.lacks(type) ? "text" : type;
}

/** The type of a column's cells in the stage, where input columns are text until they are published. */
export function stagedType({ type, from }: TableColumn): ColumnType {
  if (from.kind === "input") return "text";
  return from.kind === "added" ? from.column.type : (type as ColumnType);
}

/** What to tell the user of input columns that are stored as text although they are typed. */
export function textWarnings(
  rules: ColumnRules,
  { columns, types = [] }: Pick<TableSchemaOptions, "columns" | "types">,
): readonly string[] {
  return types.flatMap((input, index) => {
    const isKept = input.type === "text" || typeIn(rules, input) !== "text";
    return isKept
      ? []
      : [`column ${columns[index] ?? ""} is stored as text: it is ${input.declared}`];
  });
}

function mustHaveKey(columns: readonly TableColumn[], key: readonly string[]): void {
  const names = columns.map(({ name }) => name);
  const missing = key.find((name) => !names.includes(name));
  if (missing !== undefined) {
    const meant = didYouMean(missing, names);
    const near = meant === null ? "" : ` (did you mean ${meant}?)`;
    throw new UsageError("key_missing", `the rows have no column ${missing} for the key${near}`, {
      hint: `name columns with --key, or add it to --columns; there are ${names.join(", ")}`,
    });
  }
  // No database can index lists and JSON.
  for (const { name, type } of columns) {
    if (!key.includes(name) || (type !== "text[]" && type !== "json")) continue;
    throw new UsageError("key_unusable", `${name} cannot be in the key: its values are ${type}`, {
      hint: "name columns of single values with --key",
    });
  }
}

/** How an output of typed columns names them, and what it can store. */
export interface ColumnRules extends NameRules {
  /** Names that the input's columns cannot have, in lower case. */
  readonly reserved: readonly string[];
  /** The database, if it refuses longer names; by default they are cut. */
  readonly refusesLong?: string;
  /** Whether values of a type are stored as text. */
  readonly lacks: (type: StoredType) => boolean;
}

/**
 * Makes the input's column names storable and unique. They are compared without case in every output
 * (DuckDB and BigQuery ignore it), so that a table has the same columns everywhere.
 *
 * @param taken fixed names of the table
 */
export function safeColumnNames(
  rules: ColumnRules,
  names: readonly string[],
  taken: readonly string[],
): readonly string[] {
  const keyOf = (name: string): string => name.toLowerCase();
  const fixed = new Set(taken.map(keyOf));
  const clashes = names.filter((name) => fixed.has(keyOf(name.trim())));
  if (clashes.length > 0) throw columnClash(clashes);
  refuseLongNames(names, rules);
  return uniqueNames(names, rules, keyOf, [...fixed, ...rules.reserved]);
}

function refuseLongNames(
  names: readonly string[],
  { clean, longest, refusesLong }: ColumnRules,
): void {
  if (refusesLong === undefined) return;
  const long = names.find((name) => Buffer.byteLength(clean(name)) > longest);
  if (long === undefined) return;
  const length = `a name of ${Buffer.byteLength(clean(long))} bytes`;
  const message = `the input's column ${long} has ${length}; ${refusesLong} allows ${longest}`;
  const hint = "rename it in the input, or write to a file or to DuckDB";
  throw new UsageError("name_too_long", message, { hint });
}

/** A name without control characters, U+0000 and lone surrogates. */
export function plainName(name: string): string {
  return storedText(name.trim()).replaceAll(/[\0-\x1f\x7f]/g, "_");
}

/**
 * Makes a text storable in every output: U+0000 (not allowed in PostgreSQL text, manual section
 * 8.3) and lone surrogates (not encodable in UTF-8, RFC 3629, section 3) become U+FFFD.
 * @param onWarning called once per text for each kind of replacement
 */
export function storedText(text: string, onWarning?: (message: string) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", "\uFFFD");
    onWarning?.("replaced U+0000 with U+FFFD in values that contain it");
  }
  if (!isWellFormed(stored)) {
    stored = toWellFormed(stored);
    onWarning?.("replaced invalid UTF-8 with U+FFFD in values that contain it");
  }
  return stored;
}

/** The rules of outputs that take any name. */
export const anyName = {
  longest: Number.POSITIVE_INFINITY,
  clean: plainName,
  reserved: [],
} satisfies Partial<ColumnRules>;

export const parquetRules: ColumnRules = { ...anyName, lacks: parquetLacks };
