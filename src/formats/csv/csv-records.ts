import { isAscii } from "node:buffer";
import { decodeBytes } from "../../core/bytes.js";
import type { CsvDialect } from "./csv-dialect.js";
import { parserFailed, recordTooLong } from "./csv-errors.js";
import { countLineEnds } from "../line-end.js";
import { limits } from "../limits.js";
import { ignoredLines, openQuoteAt } from "./open-quote.js";
import type { InputBytes } from "../../inputs/open-input.js";
import { PendingBytes } from "../../inputs/pending-bytes.js";
import { type ParsedRecord, RecordParser } from "./record-parser.js";

export interface CsvRecord {
  /** As many cells as the record has. */
  readonly cells: string[];
  /** The line on which it starts, from 1. */
  readonly line: number;
  /** The line on which it ends. */
  readonly endLine: number;
  /** Offset in bytes just behind its line end. */
  readonly end: number;
}

/**
 * The records of a CSV input, in batches of what one chunk brought; blank and comment lines are
 * left out.
 *
 * @param linesBefore lines of the input before its first byte, when reading goes on somewhere
 * @throws FatalError `input_quote`, `input_record_too_long`, both naming the line
 */
export async function* readRecords(
  input: InputBytes,
  dialect: CsvDialect,
  linesBefore: number,
): AsyncGenerator<readonly CsvRecord[]> {
  const reader = new RecordReader(input, dialect, linesBefore);
  for await (const chunk of input.chunks) {
    const records = await reader.read(chunk);
    if (records.length > 0) yield records;
    reader.check();
  }
  const last = await reader.finish();
  if (last.length > 0) yield last;
  reader.check();
}

class RecordReader {
  readonly #name: string;
  readonly #dialect: CsvDialect;
  readonly #parser: RecordParser;
  readonly #start: number;
  /** What came behind the last record. */
  readonly #pending: PendingBytes;
  /** Offset behind the last chunk that is not all ASCII. */
  #beyondAscii = 0;
  /** Where the last record (or line left out) ended: offset, our line and csv-parse's. */
  #end: number;
  #line: number;
  #parserLine = 0;
  #error: Error | null = null;

  constructor(input: InputBytes, dialect: CsvDialect, linesBefore: number) {
    this.#name = input.name;
    this.#dialect = dialect;
    this.#start = input.start;
    this.#end = input.start;
    this.#line = linesBefore;
    this.#pending = new PendingBytes(input.start);
    this.#parser = new RecordParser(dialect);
  }

  async read(chunk: Buffer): Promise<CsvRecord[]> {
    this.#pending.append(chunk);
    if (!isAscii(chunk)) this.#beyondAscii = this.#pending.end;
    this.#error = await this.#parser.feed(chunk);
    return this.#take();
  }

  async finish(): Promise<CsvRecord[]> {
    this.#error = await this.#parser.finish();
    return this.#take();
  }

  /** Throws what stopped the parser, or when the record that is being read has grown too long. */
  check(): void {
    if (this.#error === null && this.#pending.length <= limits.recordBytes) return;
    const text = this.#pending.textBetween(this.#pending.start, this.#pending.end);
    const ignored = ignoredLines(text, this.#dialect);
    this.#end += ignored.length;
    this.#line += ignored.count;
    this.#pending.dropBefore(this.#end);
    if (this.#error === null && this.#pending.length <= limits.recordBytes) return;

    const record = text.slice(ignored.length);
    const line = this.#line + 1;
    const quote = openQuoteAt(record, this.#dialect);
    const before = quote === null ? "" : record.slice(0, quote);
    const quoteLine = quote === null ? null : line + countLineEnds(before, this.#dialect.lineEnd);
    throw this.#error === null
      ? recordTooLong(this.#name, line, quoteLine)
      : parserFailed(this.#name, line, quoteLine, this.#error);
  }

  #take(): CsvRecord[] {
    const ascii = this.#beyondAscii <= this.#pending.start;
    const records = this.#parser.takeRecords().map((record) => this.#toRecord(record, ascii));
    const last = records.at(-1);
    if (last !== undefined) this.#pending.dropBefore(last.end);
    return records;
  }

  #toRecord({ cells, bytes, lines }: ParsedRecord, ascii: boolean): CsvRecord {
    const end = this.#start + bytes;
    // csv-parse counts each CR and each LF as a line; only its step from record to record is sure
    // when that is 1. Else lines were left out or there are line ends in cells.
    const stepped = lines - this.#parserLine;
    const within = stepped === 1 ? 0 : this.#lineEndsIn(cells);
    this.#line += stepped === 1 ? 1 : this.#linesBetween(this.#end, end);
    this.#parserLine = lines;
    this.#end = end;
    if (!ascii) this.#decode(cells);
    return { cells, line: this.#line - within, endLine: this.#line, end };
  }

  #lineEndsIn(cells: readonly string[]): number {
    const { lineEnd } = this.#dialect;
    return cells.reduce((count, cell) => count + countLineEnds(cell, lineEnd), 0);
  }

  /** Lines that end between two offsets, the last line of the input even without a line end. */
  #linesBetween(from: number, to: number): number {
    const text = this.#pending.textBetween(from, to);
    const { lineEnd } = this.#dialect;
    const ended = text.endsWith("\n") || (lineEnd === "cr" && text.endsWith("\r"));
    return countLineEnds(text, lineEnd) + (ended ? 0 : 1);
  }

  #decode(cells: string[]): void {
    for (let index = 0; index < cells.length; index++) {
      const cell = cells[index]!;
      if (!notAscii.test(cell)) continue;
      cells[index] = decodeBytes(Buffer.from(cell, "latin1"));
    }
  }
}

const notAscii = /[^\u0000-\u007f]/;
