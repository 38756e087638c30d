import { columns } from "../core/columns.js";
import type { ColumnValue } from "../core/columns.js";
import type { EnrichedRow } from "../core/row.js";
import { addedColumnNames } from "./added-names.js";
import { runsAsFormula } from "./formula.js";
import type { Encoder, EncoderOptions } from "./types.js";

/**
 * CSV and TSV as RFC 4180 has them, lines ended by LF. Input cells pass as they were read; added
 * cells are guarded against formulas unless told otherwise.
 *
 * Written by hand because it runs for every cell: 1.0 µs a row of 39 columns against 4.2 µs with
 * csv-stringify's synchronous call on batches of 1,000.
 */
export function csvEncoder(delimiter: "," | "\t", options: EncoderOptions): Encoder {
  const special = delimiter === "," ? /[",\r\n]/ : /["\t\r\n]/;
  const names = [...options.columns, ...addedColumnNames(options.prefix, options.columns)];
  const quote = (cell: string): string =>
    special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  const width = options.columns.length;

  const encodeRow = (enriched: EnrichedRow): string => {
    const { cells } = enriched.row;
    let line = "";
    for (let index = 0; index < width; index++) line += quote(cells[index] ?? "") + delimiter;
    for (let index = 0; index < columns.length; index++) {
      const cell = cellOf(columns[index]!.value(enriched));
      if (index > 0) line += delimiter;
      if (cell === "") continue;
      line += quote(options.formulaGuard && runsAsFormula(cell) ? `'${cell}` : cell);
    }
    return line + "\n";
  };

  return {
    header: names.map(quote).join(delimiter) + "\n",
    encode(rows) {
      let text = "";
      for (const row of rows) text += encodeRow(row);
      return text;
    },
  };
}

function cellOf(value: ColumnValue): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  if (typeof value === "object") return value.join("|");
  return String(value);
}
