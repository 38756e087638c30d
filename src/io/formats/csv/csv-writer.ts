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
  return {
    header: csvText([names], delimiter),
    encode(rows) {
      let text = "";
      for (let at = 0; at < rows.length; at += recordsAtOnce) {
        text += csvText(rows.slice(at, at + recordsAtOnce).map(outputCells), delimiter);
      }
      return text;
    },
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

/** Records as CSV (RFC 4180), each ending with LF. */
function csvText(records: readonly (readonly string[])[], delimiter: Delimiter): string {
  return stringify([...records], { delimiter });
}

const recordsAtOnce = 64;

/**
 * The same in pieces, for any number of records.
 *
 * @param guard what makes a cell safe
 */
export function* csvPieces(
  delimiter: Delimiter,
  records: Iterable<readonly string[]>,
  guard: (cell: string) => string = withoutFormula,
): Generator<string> {
  let pending: string[][] = [];
  for (const cells of records) {
    pending.push(cells.map(guard));
    if (pending.length < recordsAtOnce) continue;
    yield csvText(pending, delimiter);
    pending = [];
  }
  yield csvText(pending, delimiter);
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
