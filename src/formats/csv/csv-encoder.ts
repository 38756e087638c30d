import { columns } from "../../core/columns.js";
import type { ColumnValue } from "../../core/columns.js";
import type { EnrichedRow } from "../../core/row.js";
import { addedColumnNames } from "../../outputs/added-names.js";
import { AsciiText } from "../ascii-text.js";
import { runsAsFormula } from "./formula.js";
import type { Encoder, EncoderOptions } from "../../outputs/types.js";

/**
 * CSV and TSV as RFC 4180 has them, lines ended by LF. Input cells pass as they were read; added
 * cells are guarded against formulas unless told otherwise.
 *
 * Written by hand because it runs for every cell: csv-stringify's synchronous call on batches of
 * 1,000 rows of 39 columns takes four times as long as joined texts do, and those, which leave 2.5 KB
 * of garbage a row, twice as long as `AsciiText`. Rows that are not all ASCII are joined all the same.
 */
export function csvEncoder(delimiter: "," | "\t", options: EncoderOptions): Encoder {
  const special = delimiter === "," ? /[",\r\n]/ : /["\t\r\n]/;
  const names = [...options.columns, ...addedColumnNames(options.prefix, options.columns)];
  const quote = (cell: string): string =>
    special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const width = options.columns.length;
  const { formulaGuard } = options;
  const ascii = new AsciiText(delimiter);

  const joined = (cells: readonly string[], added: readonly string[]): string => {
    let line = "";
    for (let index = 0; index < width; index++) line += quote(cells[index] ?? "") + delimiter;
    return line + added.map(quote).join(delimiter) + "\n";
  };
  const addedCell = (enriched: EnrichedRow, index: number): string => {
    const cell = cellOf(columns[index]!.value(enriched));
    return cell !== "" && formulaGuard && runsAsFormula(cell) ? `'${cell}` : cell;
  };
  const addRow = (enriched: EnrichedRow): boolean => {
    const { cells } = enriched.row;
    for (let index = 0; index < width; index++) if (!ascii.cell(cells[index] ?? "")) return false;
    for (let index = 0; index < columns.length; index++) {
      if (!ascii.cell(addedCell(enriched, index))) return false;
    }
    return true;
  };

  return {
    header: names.map(quote).join(delimiter) + "\n",
    encode(rows) {
      let text = "";
      for (const row of rows) {
        if (addRow(row)) {
          ascii.endRow();
          if (ascii.isLong) text += ascii.take();
        } else {
          ascii.dropRow();
          const added = columns.map((_, index) => addedCell(row, index));
          text += ascii.take() + joined(row.row.cells, added);
        }
      }
      return text + ascii.take();
    },
  };
}

function cellOf(value: ColumnValue): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object") return value.join("|");
  return String(value);
}
