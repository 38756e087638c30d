import { isAscii } from "node:buffer";
import { decodeBytes } from "../../core/bytes.js";
import { FatalError } from "../../core/errors.js";
import { countLineEnds, endsLine } from "../reading/sample.js";
import { limits } from "../reading/lines.js";
import type { TextBytes } from "../types.js";
import { type ParsedRecord, RecordParser } from "./record-parser.js";
import { type CsvDialect, scanCells } from "./scan-cells.js";
import { cutSimpleRecords, maySimplify, type SimpleRecords } from "./simple-records.js";

export interface CsvRecord {
  readonly cells: string[];
  /** First and last line of the record, counted from 1. */
  readonly line: number;
  readonly endLine: number;
  /** Byte offset after its line end. */
  readonly end: number;
}

/**
 * Reads the records of a CSV input except blank and comment lines, in one batch per chunk.
 * @param linesBefore number of lines before the first byte, when resuming
 * @throws FatalError `input_quote`, `input_record`, `input_record_too_long`, with the line number
 */
export async function* readRecords(
  input: TextBytes,
  dialect: CsvDialect,
  linesBefore: number,
): AsyncGenerator<readonly CsvRecord[]> {
  const reader = new RecordReader(input, dialect, linesBefore);
  for await (const chunk of input.chunks) {
    const records = await reader.read(chunk);
    if (records.length > 0) yield records;
    reader.check();
  }
  const last = await reader.read(null);
  if (last.length > 0) yield last;
  reader.check();
}

class RecordReader {
  readonly #input: TextBytes;
  readonly #dialect: CsvDialect;
  /** Reads the rest of the input; null as long as its records are simple. */
  #parser: RecordParser | null = null;
  /** Bytes after the last complete record, in pieces. */
  #pending: Buffer[] = [];
  #pendingLength = 0;
  /** Offset and line after the last complete record. */
  #end: number;
  #line: number;
  #error: Error | null = null;

  constructor(input: TextBytes, dialect: CsvDialect, linesBefore: number) {
    this.#input = input;
    this.#dialect = dialect;
    this.#end = input.start;
    this.#line = linesBefore;
    if (!maySimplify(dialect)) this.#startParser(input.start);
  }

  async read(chunk: Buffer | null): Promise<CsvRecord[]> {
    if (chunk !== null) {
      this.#pending.push(chunk);
      this.#pendingLength += chunk.length;
    }
    const parsed = await this.#parse(chunk);
    if (parsed.length === 0) return [];
    const bytes = this.#takePending();
    const from = this.#end;
    const ascii = isAscii(bytes);
    const whole = bytes.toString("latin1");
    const records = parsed.map(({ cells, end }): CsvRecord => {
      const text = whole.slice(this.#end - from, end - from);
      this.#end = end;
      const line = this.#line + 1;
      this.#line += this.#linesIn(text);
      // More than one line: some were skipped, or cells contain line ends.
      const within = this.#line === line ? 0 : this.#lineEndsIn(cells);
      if (!ascii) decodeCells(cells);
      return { cells, line: this.#line - within, endLine: this.#line, end: this.#end };
    });
    this.#pending = [bytes.subarray(this.#end - from)];
    this.#pendingLength = bytes.length - (this.#end - from);
    return records;
  }

  /** The records that the chunk completes, with offsets in the input. */
  async #parse(chunk: Buffer | null): Promise<readonly ParsedRecord[]> {
    if (this.#parser !== null) return this.#feed(this.#parser, chunk);
    const bytes = this.#takePending();
    this.#pending = [bytes];
    const { records, stuck } = chunk === null ? noRecords : cutSimpleRecords(bytes, this.#dialect);
    const simple = records.map(({ cells, end }) => ({ cells, end: this.#end + end }));
    const isLong = records.length === 0 && bytes.length > longRecord;
    if (chunk !== null && !stuck && !isLong) return simple;
    const cut = records.at(-1)?.end ?? 0;
    const parser = this.#startParser(this.#end + cut);
    const rest = bytes.length > cut ? await this.#feed(parser, bytes.subarray(cut)) : [];
    const last = chunk === null && this.#error === null ? await this.#feed(parser, null) : [];
    return [...simple, ...rest, ...last];
  }

  async #feed(parser: RecordParser, chunk: Buffer | null): Promise<readonly ParsedRecord[]> {
    this.#error = await parser.feed(chunk);
    return parser.takeRecords();
  }

  /** @param from offset of the first byte that it will read */
  #startParser(from: number): RecordParser {
    return (this.#parser = new RecordParser(this.#dialect, from));
  }

  /** Throws if the parser failed or the unfinished record has become too long. */
  check(): void {
    if (this.#error === null && this.#pendingLength <= limits.recordBytes) return;
    const pending = this.#takePending();
    let text = pending.toString("latin1");
    for (let skipped = this.#ignoredLine(text); skipped > 0; skipped = this.#ignoredLine(text)) {
      text = text.slice(skipped);
      this.#line += 1;
    }
    this.#end += pending.length - text.length;
    this.#pending = [pending.subarray(pending.length - text.length)];
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

  /**
   * Length of the blank or comment line at the start of a text, including its line end; 0 for none.
   */
  #ignoredLine(text: string): number {
    const { comment, lineEnd } = this.#dialect;
    const end = lineEnd === "cr" ? text.search(/[\r\n]/) : text.indexOf("\n");
    if (end === -1) return 0;
    const isBlank = end === 0 || text.startsWith("\r\n");
    if (!isBlank && (comment === null || !text.startsWith(comment))) return 0;
    return end + (text.startsWith("\r\n", end) ? 2 : 1);
  }

  #lineEndsIn(cells: readonly string[]): number {
    const { lineEnd } = this.#dialect;
    return cells.reduce((count, cell) => count + countLineEnds(cell, lineEnd), 0);
  }

  /** Counts lines, including a last one without a line end. */
  #linesIn(text: string): number {
    const { lineEnd } = this.#dialect;
    return countLineEnds(text, lineEnd) + (endsLine(text, lineEnd) ? 0 : 1);
  }
}

/** csv-parse reads Latin-1, one character per byte, so that invalid bytes are preserved. */
function decodeCells(cells: string[]): void {
  for (const [index, cell] of cells.entries()) {
    if (notAscii.test(cell)) cells[index] = decodeBytes(Buffer.from(cell, "latin1"));
  }
}

const notAscii = /[^\u0000-\u007f]/;

const noRecords: SimpleRecords = { records: [], stuck: false };

/** Bytes of an incomplete record from which it is left to the parser, which reads each byte once. */
const longRecord = 256 * 1024;

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
