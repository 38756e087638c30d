import type { CellValue } from "../../formats/typed-column.js";
import type { EnrichedRow } from "../../core/row.js";
import { storedText, type TextFault } from "./stored-text.js";
import type { TableColumn, TableSchema } from "./table-schema.js";
import { columnTypes } from "../../formats/column-types.js";

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

/** One reader per column, in table order. Input cells missing in a row are null. */
export function cellReaders(
  schema: Pick<TableSchema, "columns">,
  options: CellReaderOptions,
): readonly CellReader[] {
  const warnOfText = (fault: TextFault): void => options.onWarning(warnings[fault]);
  const text = (value: string): string => storedText(value, warnOfText);

  return schema.columns.map(({ from }: TableColumn): CellReader => {
    switch (from.kind) {
      case "run_id":
        return () => options.runId;
      case "row":
        return ({ row, written }) => BigInt(row.savedNumber ?? written ?? row.number);
      case "loaded_at":
        // Filled in when the row is published.
        return () => null;
      case "input":
        return ({ row }) => {
          const cell = row.cells[from.index];
          return cell === undefined || row.nulls?.[from.index] === true ? null : text(cell);
        };
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
