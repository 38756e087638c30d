import { FatalError } from "../../core/errors.js";
import { type Line, limits, readLines, type TextBytes } from "../reading/lines.js";
import { type CellDialect, type ScannedCells, scanLine } from "../reading/scan-cells.js";

export interface CsvDialect extends CellDialect {
  /** Lines that start with this text are skipped; null for none. */
  readonly comment: string | null;
}

export interface CsvRecord {
  readonly cells: string[];
  /** First and last line of the record, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  readonly end: number;
}

/** A record with a quote that is not closed yet. */
interface OpenRecord extends ScannedCells {
  readonly line: number;
  /** Offset of the record. */
  readonly start: number;
  /** Line of the quote. */
  readonly quote: number;
}

/**
 * Reads the records of a CSV input except blank and comment lines, in one batch per chunk.
 * @param linesBefore number of lines before the first byte, when resuming
 * @throws FatalError `input_quote`, `input_record_too_long`, with the line number
 */
export async function* readRecords(
  input: TextBytes,
  { comment, ...dialect }: CsvDialect,
  linesBefore: number,
): AsyncGenerator<readonly CsvRecord[]> {
  let before: OpenRecord | null = null;
  let reached = input.start;
  const recordOf = ({ text, ending, number, end }: Line): CsvRecord | null => {
    const start = reached;
    reached = end;
    if (before === null && (text === "" || (comment !== null && text.startsWith(comment))))
      return null;
    const first = before ?? { line: number, start };
    const width = before?.cells.length;
    const { cells, open } = scanLine(text, dialect, before ?? undefined);
    if (open === null) {
      before = null;
      return { cells, line: first.line, endLine: number, end };
    }
    const quote = before !== null && width === cells.length ? before.quote : number;
    before = { cells, open: open + ending, line: first.line, start: first.start, quote };
    if (end - first.start > limits.recordBytes) throw openQuote(input.name, quote, true);
    return null;
  };
  for await (const lines of readLines(input, linesBefore)) {
    const records = lines.map(recordOf).filter((record) => record !== null);
    if (records.length > 0) yield records;
  }
  if (before !== null) throw openQuote(input.name, (before as OpenRecord).quote, false);
}

function openQuote(name: string, line: number, isTooLong: boolean): FatalError {
  const message = `line ${line} of ${name}: the quote opened here is`;
  const hint = 'close the quote; double a literal quote inside a quoted cell: "a 5"" disk"';
  return isTooLong
    ? new FatalError("input_record_too_long", `${message}n't closed within 16 MiB`, { hint })
    : new FatalError("input_quote", `${message} never closed`, { hint });
}
