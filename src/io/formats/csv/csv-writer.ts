import type { ColumnValue } from "../../../core/column.js";
import { addedColumns, columns, optionalColumnsIn } from "../../../core/columns.js";
import { addedColumnNames } from "../added-names.js";
import { countRows } from "../count-rows.js";
import { joinedEntries } from "../column-types.js";
import { linesEncoder } from "../lines-encoder.js";
import { RecordSplitter } from "../record-splitter.js";
import type {
  CountOptions,
  RecordFormat,
  RecordLayout,
  Encoder,
  EncoderOptions,
  RecordCounter,
  WritableFormat,
} from "../types.js";
import { type Delimiter, latin1, scanCells } from "../reading/scan-cells.js";

/** How rows with this delimiter are written, counted and read back. */
export function csvOutput(delimiter: Delimiter): Omit<WritableFormat, "extensions"> {
  return {
    write: (options) => csvEncoder(delimiter, options),
    split: () => new RecordSplitter({ quoting: true }),
    count: (options) => countCsv(delimiter, options),
    keepsReceived: () => false,
    records: csvRecords(delimiter),
  };
}

/**
 * Writes CSV or TSV records (RFC 4180) that end with LF. csv-stringify would cost 10% of the CPU
 * time of a CSV to CSV run (7 µs per row).
 */
export function recordWriter(delimiter: Delimiter): (cells: readonly string[]) => string {
  const special = new RegExp(`["\\r\\n\\${delimiter}]`);
  const quoted = (cell: string): string =>
    cell !== "" && special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
  return (cells) => `${cells.map(quoted).join(delimiter)}\n`;
}

/**
 * Neutralises a cell that a spreadsheet would run as a formula (OWASP, CSV Injection). A value that
 * looks neutralised gets another apostrophe, so that `valueOf` restores it.
 */
export function withoutFormula(cell: string): string {
  return guardedStarts.has(cell.charAt(0)) && formula.test(cell) ? `'${cell}` : cell;
}

function valueOf(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}

const formula = /^'*[=+\-@\t\r]/;
/** Quick to test, as most cells have none of them. */
const guardedStarts: ReadonlySet<string> = new Set("'=+-@\t\r");

/** Input cells are written unchanged; added cells are guarded. */
export function csvEncoder(own: Delimiter, options: EncoderOptions): Encoder {
  const write = recordWriter(options.delimiter ?? own);
  const width = options.columns.length;
  const ours = options.added ?? columns;
  return {
    ...linesEncoder((enriched) => {
      const added = ours.map((column) => withoutFormula(cellOf(column.value(enriched))));
      return write(inputCells(enriched.row.cells, width).concat(added));
    }),
    header: write([...options.columns, ...addedColumnNames(options.prefix, options.columns, ours)]),
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

export function countCsv(own: Delimiter, { inputColumns, prefix }: CountOptions): RecordCounter {
  let names: readonly string[] | null = null;
  let delimiter = own;
  let [status, verdict] = [-1, -1];
  return countRows((record) => {
    const text = record.toString("latin1");
    if (names === null) {
      delimiter = latin1(delimiterOf(record.toString("utf8"), prefix) ?? own);
      names = cellsOf(text, delimiter);
      [status = -1, verdict = -1] = ["status", "verdict"].map((name) =>
        names!.indexOf(prefix + name, inputColumns),
      );
      return null;
    }
    const wanted = Math.max(status, verdict) + 1;
    const line = wanted === names.length ? withoutLineEnd(text) : text;
    const { cells } = scanCells(line, { delimiter }, wanted);
    return {
      status: cells[status],
      verdict: verdict < 0 ? undefined : cells[verdict] || null,
    };
  });
}

/** Reads rows of an existing output. Its last columns must be repute's. */
export function csvRecords(delimiter: Delimiter): RecordFormat {
  return {
    header: true,
    layout(header, prefix) {
      const own = delimiterOf(header, prefix) ?? delimiter;
      return layoutOf(cellsOf(header, own), own, prefix);
    },
  };
}

/** The delimiter of an output: what is before the last column, which is ours. */
function delimiterOf(header: string, prefix: string): Delimiter | null {
  const name = prefix.replaceAll(/[^\w\s]/g, String.raw`\$&`);
  return new RegExp(`([^\\w"])"?${name}[a-z_]+"?\\r?\\n?$`, "u").exec(header)?.[1] ?? null;
}

function layoutOf(
  names: readonly string[],
  delimiter: Delimiter,
  prefix: string,
): RecordLayout | null {
  const known = addedNames(prefix);
  const first = names.findLastIndex((name) => !known.has(name)) + 1;
  const optional = optionalColumnsIn(names.slice(first), prefix);
  const added = addedColumns(optional).map(({ name }) => name);
  if (!added.includes("status") || !endsWith(names, added, prefix)) return null;
  const width = names.length - added.length;
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

function addedNames(prefix: string): ReadonlySet<string> {
  const all = addedColumns({ file: true, column: true, raw: true });
  return new Set(all.map(({ name }) => prefix + name));
}

function endsWith(names: readonly string[], added: readonly string[], prefix: string): boolean {
  const width = names.length - added.length;
  return width >= 0 && added.every((name, index) => names[width + index] === prefix + name);
}

function cellsOf(record: string, delimiter: Delimiter): readonly string[] {
  return scanCells(withoutLineEnd(record), { delimiter }).cells;
}

function withoutLineEnd(record: string): string {
  return record.replace(/\r?\n$/, "");
}
