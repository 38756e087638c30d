import { stringify } from "csv-stringify/sync";
import type { ColumnValue } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";
import type { EnrichedRow } from "../../../core/row.js";
import { addedColumnNames } from "../columns/name-columns.js";
import type { Delimiter } from "../reading/sample.js";
import type { Encoder, EncoderOptions } from "../types.js";

/** Input cells are written unchanged; added cells are guarded. */
export function csvEncoder(own: Delimiter, options: EncoderOptions): Encoder {
  const delimiter = options.delimiter ?? own;
  const width = options.columns.length;
  const ours = options.added ?? columns;
  const names = [...options.columns, ...addedColumnNames(options.prefix, options.columns, ours)];
  const outputCells = (enriched: EnrichedRow): string[] => {
    const cells = inputCells(enriched.row.cells, width);
    for (const column of ours) cells.push(withoutFormula(cellOf(column.value(enriched))));
    return cells;
  };
  const line = csvLine(delimiter);
  return {
    header: line(names),
    encode: (rows) => rows.map((enriched) => line(outputCells(enriched))).join(""),
  };
}

function inputCells(cells: readonly string[], width: number): string[] {
  const all = cells.slice(0, width);
  while (all.length < width) all.push("");
  return all;
}

function cellOf(value: ColumnValue): string {
  if (value === null) return "";
  if (typeof value === "string") return value;
  return typeof value === "object" ? value.join("|") : String(value);
}

/**
 * Writes records as CSV (RFC 4180), each ending with LF. Most cells need no quotes: joining these takes a
 * third of the time.
 */
function csvLine(delimiter: Delimiter): (cells: readonly string[]) => string {
  const special = new RegExp(`["\\r\\n${delimiter}]`);
  const quoted = (cell: string): string =>
    special.test(cell) ? stringify([[cell]], { delimiter, eof: false }) : cell;
  return (cells) => `${cells.map(quoted).join(delimiter)}\n`;
}

/**
 * The lines of any number of records.
 *
 * @param guard what makes a cell safe
 */
export function* csvPieces(
  delimiter: Delimiter,
  records: Iterable<readonly string[]>,
  guard: (cell: string) => string = withoutFormula,
): Generator<string> {
  const line = csvLine(delimiter);
  for (const cells of records) yield line(cells.map(guard));
}

/**
 * Neutralises a cell that a spreadsheet would run as a formula (OWASP, CSV Injection). A value that
 * looks neutralised gets another apostrophe, so that `valueOf` restores it.
 */
function withoutFormula(cell: string): string {
  return guardedStarts.has(cell.charAt(0)) && formula.test(cell) ? `'${cell}` : cell;
}

/** The value of a cell that may be neutralised. */
export function valueOf(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

const formula = /^'*[=+\-@\t\r]/;
/** Quick to test, as most cells have none of them. */
const guardedStarts: ReadonlySet<string> = new Set("'=+-@\t\r");
