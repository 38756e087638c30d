import type { InputType, StoredType, TypedColumn } from "../../formats/typed-column.js";
import type { Column, ColumnType } from "../../../core/column.js";
import {
  addedColumns,
  columns as allColumns,
  type OptionalColumns,
} from "../../../core/columns.js";
import { UsageError } from "../../../core/errors.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import { type ColumnRules, safeColumnNames } from "./column-rules.js";
import type { TableMode } from "../options.js";

export interface TableColumn extends TypedColumn {
  readonly description: string;
  /** Source of its values: the run, an input cell by index, or an added column. */
  readonly from:
    | { readonly kind: "run_id" | "row" | "loaded_at" }
    | { readonly kind: "input"; readonly index: number; readonly name: string }
    | { readonly kind: "added"; readonly column: Column };
}

export const leadingNames = ["run_id", "row", "loaded_at"] as const;

/** The enriched table: leading columns, input columns, added columns, in this order. */
export interface TableSchema {
  readonly columns: readonly TableColumn[];
  readonly rowKey: readonly [runId: string, row: string];
  /** Names of the key's columns: those, or with `--mode merge` what has one row. */
  readonly key: readonly string[];
  readonly mode: TableMode;
  readonly prefix: string;
}

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
 * The table that every typed output holds.
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
): TableSchema {
  const added = addedColumns(optional).map((column): TableColumn => ({
    name: prefix + column.name,
    type: column.type,
    nullable: true,
    description: column.description,
    from: { kind: "added", column },
  }));
  const leading = leadingNames.map((name) => leadingColumn(prefix, name));
  const taken = [
    ...leading.map(({ name }) => name),
    ...added.map(({ name }) => name),
    ...allColumns.map(({ name }) => prefix + name),
  ];
  const names = safeColumnNames(rules, inputColumns, taken);
  const input = names.map((name, index): TableColumn => ({
    name,
    type: typeIn(rules, types[index]),
    nullable: true,
    description: "Input column, unchanged",
    from: { kind: "input", index, name: inputColumns[index] ?? "" },
  }));
  const columns = [...leading, ...input, ...added];
  const rowKey = [`${prefix}run_id`, `${prefix}row`] as const;
  if (mode !== "merge") return { columns, rowKey, key: rowKey, mode, prefix };
  mustHaveKey(columns, mergeKey);
  return {
    columns: columns.map((column) => (mergeKey.includes(column.name) ? required(column) : column)),
    rowKey,
    key: mergeKey,
    mode,
    prefix,
  };
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

function leadingColumn(prefix: string, kind: (typeof leadingNames)[number]): TableColumn {
  const [type, nullable, description] = leadingFacts[kind];
  return { name: prefix + kind, type, nullable, description, from: { kind } };
}

const leadingFacts = {
  run_id: ["text", false, "The run that wrote the row"],
  row: ["count", false, "Number of the row in the run's input, from 1"],
  loaded_at: ["timestamp", true, "When the row was published"],
} as const;

function required(column: TableColumn): TableColumn {
  return { ...column, nullable: false };
}
