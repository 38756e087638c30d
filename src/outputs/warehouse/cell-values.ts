import type { CellValue } from "../../formats/typed-column.js";
import type { EnrichedRow } from "../../core/row.js";
import { storedText, type TextFault } from "../sql/stored-text.js";
import type { TableColumn, TableSchema } from "../sql/table-schema.js";
import { columnTypes } from "../../formats/column-types.js";
import { plainEscapes } from "../../formats/json-cell.js";
import { storedType } from "../../formats/stored-types.js";

export type CellReader = (enriched: EnrichedRow) => CellValue;

export interface CellReaderOptions {
  readonly runId: string;
  /** Called for every value that cannot be stored unchanged. */
  readonly onWarning: (message: string) => void;
}

const warnings: Readonly<Record<TextFault, string>> = {
  nul: "replaced U+0000 with U+FFFD in values that contain it",
  surrogate: "replaced invalid UTF-8 with U+FFFD in values that contain it",
};

/**
 * One reader per column, in table order. Input cells missing in a row are null. Those of typed columns
 * stay text until they are published; the others are warned of now.
 */
export function cellReaders(
  schema: Pick<TableSchema, "columns">,
  options: CellReaderOptions,
): readonly CellReader[] {
  const warnOfText = (fault: TextFault): void => options.onWarning(warnings[fault]);
  const text = (value: string): string => storedText(value, warnOfText);

  return schema.columns.map(({ type: stored, from }: TableColumn): CellReader => {
    switch (from.kind) {
      case "run_id":
        return () => options.runId;
      case "row":
        return ({ row, written }) => BigInt(row.savedNumber ?? written ?? row.number);
      case "loaded_at":
        // Filled in when the row is published.
        return () => null;
      case "input": {
        const lacking = `values of the column ${from.name} became null: they are infinite, out of range or malformed`;
        const { cellOf } = storedType(stored);
        return ({ row }) => {
          const cell = row.cells[from.index];
          if (cell === undefined || row.nulls?.[from.index] === true) return null;
          if (stored === "text") return text(cell);
          if (cell === "") return null;
          const value = text(stored === "json" ? plainEscapes(cell) : cell);
          if (cellOf(value) === undefined) options.onWarning(lacking);
          return value;
        };
      }
      case "added": {
        const { type, value: read } = from.column;
        return (enriched) => {
          const value = read(enriched);
          return value === null ? null : columnTypes[type].toCell(value, text);
        };
      }
    }
  });
}
