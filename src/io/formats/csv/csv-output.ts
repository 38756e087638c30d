import { stringify } from "csv-stringify/sync";
import type { ColumnValue } from "../../../core/column.js";
import { addedColumns, columns, optionalColumnsIn } from "../../../core/columns.js";
import type { EnrichedRow } from "../../../core/row.js";
import { addedColumnNames } from "../columns/name-columns.js";
import { joinedEntries } from "../column-types.js";
import { RecordSplitter } from "../reading/lines.js";
import { type Delimiter, scanCells } from "../reading/sample.js";
import type { Encoder, EncoderOptions, RecordLayout, WritableFormat } from "../types.js";

/** How rows with this delimiter are written and read back. The last columns must be repute's. */
export function csvOutput(delimiter: Delimiter) {
  return {
    write: (options) => csvEncoder(delimiter, options),
    keepsReceived: () => false,
    records: {
      header: true,
      split: () => new RecordSplitter({ quoting: true }),
      layout(header, prefix) {
        const own = delimiterOf(header, prefix) ?? delimiter;
        return layoutOf(cellsOf(header, own), own, prefix);
      },
    },
  } satisfies Omit<WritableFormat, "extensions">;
}

/** The delimiter of an output: the character before our last column. */
function delimiterOf(header: string, prefix: string): Delimiter | null {
  const name = prefix.replaceAll(/[^\w\s]/g, String.raw`\$&`);
  return new RegExp(`([^\\w"])"?${name}[a-z_]+"?\\r?\\n?$`, "u").exec(header)?.[1] ?? null;
}

function layoutOf(
  names: readonly string[],
  delimiter: Delimiter,
  prefix: string,
): RecordLayout | null {
  const all = addedColumns({ file: true, column: true, raw: true });
  const known = new Set(all.map(({ name }) => prefix + name));
  const first = names.findLastIndex((name) => !known.has(name)) + 1;
  const optional = optionalColumnsIn(names.slice(first), prefix);
  const added = addedColumns(optional).map(({ name }) => name);
  const width = names.length - added.length;
  const isOurs = added.every((name, index) => names[width + index] === prefix + name);
  if (!added.includes("status") || !isOurs) return null;
  const places = new Map(added.map((name, index) => [name, width + index]));
  return {
    inputColumns: names.slice(0, width),
    delimiter,
    shape: "flat",
    optional,
    read(record) {
      const cells = cellsOf(record, delimiter);
      if (cells.length !== names.length) return null;
      const text = (name: string): string => valueOf(cells[places.get(name) ?? -1] ?? "");
      return {
        text,
        list: (name) => joinedEntries(text(name)),
        cells: cells.slice(0, width),
        json: null,
        extra: text("extra") || null,
      };
    },
  };
}

function cellsOf(record: string, delimiter: Delimiter): readonly string[] {
  return scanCells(record.replace(/\r?\n$/, ""), { delimiter }).cells;
}

/** Input cells are written unchanged; added cells are guarded. */
function csvEncoder(own: Delimiter, options: EncoderOptions): Encoder {
  const delimiter = options.delimiter ?? own;
  const width = options.columns.length;
  const ours = options.added ?? columns;
  const names = [...options.columns, ...addedColumnNames(options.prefix, options.columns, ours)];
  const outputCells = (enriched: EnrichedRow): string[] => {
    const cells = enriched.row.cells.slice(0, width);
    while (cells.length < width) cells.push("");
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
function valueOf(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

const formula = /^'*[=+\-@\t\r]/;
/** Quick to test, as most cells have none of them. */
const guardedStarts: ReadonlySet<string> = new Set("'=+-@\t\r");
