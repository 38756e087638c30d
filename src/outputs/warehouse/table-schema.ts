import { type Column, columns as addedColumns } from "../../core/columns.js";
import { type NamingName, safeColumnNames } from "./column-names.js";
import type { SqlColumn } from "./dialect.js";

export interface TableColumn extends SqlColumn {
  /** What it says, as a sentence. */
  readonly description: string;
  /** Which part of a row fills it: the run, the input's cell of that index, or an added column. */
  readonly from:
    | { readonly kind: "run_id" | "row" }
    | { readonly kind: "input"; readonly index: number; readonly name: string }
    | { readonly kind: "added"; readonly column: Column };
}

/** The enriched table: key, input columns, added columns, in this order. */
export interface TableSchema {
  readonly columns: readonly TableColumn[];
  /** Names of the key: run and row. */
  readonly key: readonly [runId: string, row: string];
  /** What the names of the added columns begin with. */
  readonly prefix: string;
}

/**
 * The one table that every warehouse holds.
 *
 * @param target whose rules the names of the input's columns are made to keep
 * @throws UsageError `column_clash` when the input has a column that would be added
 */
export function tableSchema(
  target: NamingName,
  { inputColumns, prefix }: { readonly inputColumns: readonly string[]; readonly prefix: string },
): TableSchema {
  const key = [`${prefix}run_id`, `${prefix}row`] as const;
  const added = addedColumns.map((column): TableColumn => ({
    name: prefix + column.name,
    type: column.type,
    nullable: true,
    description: column.description,
    from: { kind: "added", column },
  }));
  const taken = [...key, ...added.map((column) => column.name)];
  const names = safeColumnNames(target, inputColumns, taken);
  const input = names.map((name, index): TableColumn => ({
    name,
    type: "text",
    nullable: true,
    description: "As the input has it",
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
