import type { EnrichedRow } from "../../core/row.js";
import type { CellValue } from "../../formats/typed-column.js";
import type { CellReader } from "./cell-values.js";
import type { TableColumn, TableSchema } from "./table-schema.js";

/** Added columns that say what was looked up, where it is from, and with which surplus cells. */
const kept: ReadonlySet<string> = new Set(["item", "kind", "extra", "file", "column"]);

/** Whether a retry fills a column in. It keeps the others. */
export function isFilledIn({ from }: TableColumn): boolean {
  return from.kind === "added" && !kept.has(from.column.name);
}

/**
 * Returns a function that reads the cells of a row, in table order. A row that a retry copies has
 * those it had, except for what a new finding fills in.
 *
 * @param readers one per column
 */
export function rowCells(
  { columns }: Pick<TableSchema, "columns">,
  readers: readonly CellReader[],
): (enriched: EnrichedRow) => readonly CellValue[] {
  const fills = columns.map(isFilledIn);
  return (enriched) => {
    const { saved, earlier } = enriched.row;
    if (saved === undefined) return readers.map((read) => read(enriched));
    if (enriched.finding === earlier) return saved;
    return readers.map((read, index) =>
      fills[index] === true ? read(enriched) : (saved[index] ?? null),
    );
  };
}
