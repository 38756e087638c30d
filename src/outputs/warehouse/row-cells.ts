import { type Clock, systemClock } from "../../core/clock.js";
import type { EnrichedRow } from "../../core/row.js";
import { storedType } from "../../formats/stored-types.js";
import type { CellValue } from "../../formats/typed-column.js";
import type { CellReader } from "./cell-values.js";
import type { Stage, StagedRow } from "../stage.js";
import { leadingNames, type TableColumn, type TableSchema } from "../sql/table-schema.js";

/** Added columns that say what was looked up, where it is from, and with which surplus cells. */
const kept: ReadonlySet<string> = new Set(["item", "kind", "extra", "file", "column"]);

/** Whether a retry fills a column in. It keeps the others. */
export function isFilledIn({ from }: TableColumn): boolean {
  return from.kind === "loaded_at" || (from.kind === "added" && !kept.has(from.column.name));
}

const loadedIndex = leadingNames.indexOf("loaded_at");

/**
 * The staged rows as they are published: with the time of their publishing, unless a retry copies rows
 * that have theirs, and with the values of typed input columns.
 */
export async function* loadedRows(
  stage: Stage,
  columns: readonly TableColumn[],
  clock: Clock = systemClock,
): AsyncGenerator<readonly StagedRow[]> {
  const now = BigInt(Math.round(clock.now() * 1000));
  const typed = columns.flatMap(({ type, from }, index) =>
    from.kind === "input" && type !== "text" ? [{ index, facts: storedType(type) }] : [],
  );
  for await (const rows of stage.rows()) {
    yield rows.map((staged) => {
      const row = staged.slice();
      if (row[loadedIndex] === null) row[loadedIndex] = now;
      for (const { index, facts } of typed) {
        const text = row[index] ?? null;
        if (text !== null) row[index] = facts.cellOf(text as string) ?? null;
      }
      return row;
    });
  }
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
