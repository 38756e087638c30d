import type { TypedColumn } from "../../formats/typed-column.js";
import type { Column } from "../../core/column.js";
import { addedColumns, columns, type OptionalColumns } from "../../core/columns.js";
import { type NamingName, safeColumnNames } from "./column-names.js";

export interface TableColumn extends TypedColumn {
  /** Description of the column, as a sentence. */
  readonly description: string;
  /** Source of its values: the run, an input cell by index, or an added column. */
  readonly from:
    | { readonly kind: "run_id" | "row" }
    | { readonly kind: "input"; readonly index: number; readonly name: string }
    | { readonly kind: "added"; readonly column: Column };
}

/** The enriched table: key, input columns, added columns, in this order. */
export interface TableSchema {
  readonly columns: readonly TableColumn[];
  /** Names of the key columns, run and row. */
  readonly key: readonly [runId: string, row: string];
  /** Prefix of the added columns' names. */
  readonly prefix: string;
}

/**
 * The table that every warehouse holds.
 * @param target naming rules for the input's columns
 * @throws UsageError `column_clash` if the input has a column that would be added
 */
export function tableSchema(
  target: NamingName,
  {
    inputColumns,
    prefix,
    optional = {},
  }: {
    readonly inputColumns: readonly string[];
    readonly prefix: string;
    readonly optional?: OptionalColumns | undefined;
  },
): TableSchema {
  const key = [`${prefix}run_id`, `${prefix}row`] as const;
  const added = addedColumns(optional).map((column): TableColumn => ({
    name: prefix + column.name,
    type: column.type,
    nullable: true,
    description: column.description,
    from: { kind: "added", column },
  }));
  const taken = [
    ...key,
    ...new Set([...added.map(({ name }) => name), ...columns.map(({ name }) => prefix + name)]),
  ];
  const names = safeColumnNames(target, inputColumns, taken);
  const input = names.map((name, index): TableColumn => ({
    name,
    type: "text",
    nullable: true,
    description: "Input column, unchanged",
    from: { kind: "input", index, name: inputColumns[index] ?? "" },
  }));
  const leading: readonly TableColumn[] = [
    {
      name: key[0],
      type: "text",
      nullable: false,
      description: "The run that wrote the row",
      from: { kind: "run_id" },
    },
    {
      name: key[1],
      type: "count",
      nullable: false,
      description: "Number of the row in the run's input, from 1",
      from: { kind: "row" },
    },
  ];
  return { columns: [...leading, ...input, ...added], key, prefix };
}
