import { type LineEnd, limits, type TextBytes } from "../reading/lines.js";
import type { InputReading } from "../types.js";
import { type Delimiter, latin1, scanCells, countLineEnds } from "../reading/sample.js";
import { isAscii } from "node:buffer";
import { Parser } from "csv-parse";
import { decodeBytes } from "../../../core/bytes.js";
import { FatalError } from "../../../core/errors.js";

interface CsvDialect extends Pick<InputReading, "comment" | "spaced"> {
  readonly delimiter: Delimiter;
  readonly lineEnd: LineEnd;
}

export interface CsvRecord {
  readonly cells: string[];
  /** As in `Row`. */
  readonly nulls?: readonly boolean[];
  /** Its bytes, with the blank and comment lines before it. */
  readonly size: number;
}

/**
 * Reads the records of a CSV input except blank and comment lines, in one batch per chunk.
 * @param skippedLines lines at the start that are no records
 * @throws FatalError `input_fields`, `input_quote`, `input_record`, `input_record_too_long`, with the
 *   line number
 */
export async function* readRecords(
  input: TextBytes,
  dialect: CsvDialect,
  skippedLines = 0,
): AsyncGenerator<readonly CsvRecord[]> {
  const reader = new RecordReader(input, dialect, skippedLines);
  for await (const chunk of withoutLines(input, skippedLines)) {
    const records = await reader.read(chunk);
    if (records.length > 0) yield records;
    reader.check();
  }
  const last = await reader.read(null);
  if (last.length > 0) yield last;
  reader.check();
}

async function* withoutLines(
  { chunks, lineEnd }: TextBytes,
  lines: number,
): AsyncGenerator<Buffer> {
  let left = lines;
  for await (const chunk of chunks) {
    let end = 0;
    for (; left > 0; left--) {
      const at = chunk.indexOf(lineEnd === "cr" ? "\r" : "\n", end);
      end = at === -1 ? chunk.length : at + 1;
      if (at === -1) break;
    }
    if (end < chunk.length) yield chunk.subarray(end);
  }
}

class RecordReader {
  readonly #input: TextBytes;
  readonly #dialect: CsvDialect;
  readonly #parser: Parser;
  /** A blank or comment line. */
  readonly #ignored: RegExp;
  #records: CsvRecord[] = [];
  /** Bytes up to the end of the last complete record. */
  #end = 0;
  /** Those after it, in pieces. */
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** Bytes of blank and comment lines before them, which the next record counts as its own. */
  #skipped = 0;
  /** Lines up to the end of the last complete record. */
  #line: number;
  #error: Error | null = null;
  /** The line of Zeek (`#fields`) or W3C (`#Fields:`) that names the columns. */
  #fields: string | null = null;

  constructor(input: TextBytes, dialect: CsvDialect, linesBefore: number) {
    this.#input = input;
    this.#dialect = dialect;
    this.#line = linesBefore;
    const { delimiter, comment, spaced, lineEnd } = dialect;
    const end = lineEnd === "cr" ? "[^\\r\\n]*)?(?:\\r\\n?|\\n)" : "[^\\n]*)?\\r?\\n";
    const mark = comment?.replaceAll(/[^\w\s]/g, String.raw`\$&`) ?? "(?!)";
    this.#ignored = new RegExp(`(?:${mark}${end}`, "y");
    this.#parser = new Parser({
      delimiter: latin1(delimiter),
      comment: comment === null ? null : latin1(comment),
      comment_no_infix: true,
      encoding: "latin1",
      ltrim: spaced,
      record_delimiter: lineEnd === "cr" ? ["\r\n", "\n", "\r"] : ["\r\n", "\n"],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
    this.#parser.push = (cells: string[] | null) => this.#take(cells);
    // Errors arrive through callbacks, but the event must have a listener.
    this.#parser.on("error", () => {});
  }

  /**
   * Takes a record before the stream queues it: the queue costs a promise for each, and by then `info`
   * no longer says where the record ended.
   */
  #take(cells: string[] | null): boolean {
    if (cells === null) return false;
    const info: { readonly bytes: number; records: number } = this.#parser.info;
    this.#records.push({ cells, size: info.bytes - this.#end });
    this.#end = info.bytes;
    // csv-parse compares each record's length with the first one's. For every difference it creates
    // an error with a stack (25 µs) and then ignores it. Resetting the count makes every record the
    // first.
    info.records = 0;
    return true;
  }

  async read(chunk: Buffer | null): Promise<readonly CsvRecord[]> {
    if (chunk !== null) {
      this.#pending.push(chunk);
      this.#pendingLength += chunk.length;
    }
    this.#error = await new Promise((resolve) => {
      const done = (error?: Error | null): void => resolve(error ?? null);
      if (chunk === null) this.#parser.end(done);
      else this.#parser.write(chunk, done);
    });
    const records = this.#records.splice(0);
    if (records.length === 0) return records;
    const bytes = this.#takePending();
    const end = records.reduce((sum, { size }) => sum + size, -this.#skipped);
    this.#skipped = 0;
    if (this.#dialect.comment === "#") this.#checkFields(bytes.subarray(0, end));
    this.#line += countLineEnds(bytes.subarray(0, end), this.#dialect.lineEnd);
    this.#pending = [bytes.subarray(end)];
    this.#pendingLength = bytes.length - end;
    // csv-parse reads Latin-1, one character per byte, so that invalid bytes are preserved.
    for (const { cells } of isAscii(bytes) ? [] : records) {
      for (const [index, cell] of cells.entries()) {
        if (notAscii.test(cell)) cells[index] = decodeBytes(Buffer.from(cell, "latin1"));
      }
    }
    return records;
  }

  /** Throws if the columns change between records, as after a restart or in joined logs. */
  #checkFields(bytes: Buffer): void {
    for (const mark of ["#fields\t", "#Fields:"]) {
      for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) {
        if (at > 0 && bytes[at - 1] !== 0x0a) continue;
        const [fields = ""] = bytes.toString("latin1", at).split(/\r?\n/, 1);
        this.#fields ??= fields;
        if (fields === this.#fields) continue;
        const line = this.#line + 1 + countLineEnds(bytes.subarray(0, at), this.#dialect.lineEnd);
        const message = `line ${line} of ${this.#input.name}: other columns begin here: ${fields}`;
        throw new FatalError("input_fields", message, { hint: "split the file before this line" });
      }
    }
  }

  /** Throws if the parser failed or the unfinished record has become too long. */
  check(): void {
    if (this.#error === null && this.#pendingLength <= limits.recordBytes) return;
    const pending = this.#takePending();
    const whole = pending.toString("latin1");
    let skipped = 0;
    for (this.#ignored.lastIndex = 0; this.#ignored.test(whole); this.#line += 1) {
      skipped = this.#ignored.lastIndex;
    }
    const text = whole.slice(skipped);
    this.#skipped += skipped;
    this.#pending = [pending.subarray(skipped)];
    this.#pendingLength = text.length;
    if (this.#error === null && text.length <= limits.recordBytes) return;

    const line = this.#line + 1;
    const { openQuote } = scanCells(text, this.#dialect);
    const before = openQuote === null ? "" : text.slice(0, openQuote);
    const quoteLine =
      openQuote === null ? null : line + countLineEnds(before, this.#dialect.lineEnd);
    throw this.#error === null
      ? recordTooLong(this.#input.name, line, quoteLine)
      : parserFailed(this.#input.name, line, quoteLine, this.#error);
  }

  #takePending(): Buffer {
    const [first] = this.#pending;
    return first !== undefined && this.#pending.length === 1 ? first : Buffer.concat(this.#pending);
  }
}

const notAscii = /[^\u0000-\u007f]/;

function recordTooLong(name: string, line: number, quoteLine: number | null): FatalError {
  const message =
    quoteLine === null
      ? `the record on line ${line} of ${name} is longer than the limit of 16 MiB`
      : `line ${quoteLine} of ${name}: the quote opened here isn't closed within 16 MiB`;
  return new FatalError("input_record_too_long", message, {
    hint: quoteLine === null ? "check that --from matches the input's format" : quoteHint,
  });
}

function parserFailed(
  name: string,
  line: number,
  quoteLine: number | null,
  cause: Error,
): FatalError {
  if (quoteLine === null) {
    const message = `line ${line} of ${name}: cannot read the record: ${cause.message}`;
    return new FatalError("input_record", message, { cause });
  }
  const message = `line ${quoteLine} of ${name}: the quote opened here is never closed`;
  return new FatalError("input_quote", message, { cause, hint: quoteHint });
}

const quoteHint = 'close the quote; double a literal quote inside a quoted cell: "a 5"" disk"';
