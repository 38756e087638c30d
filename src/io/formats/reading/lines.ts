import { decodeBytes } from "../../../core/bytes.js";
import { FatalError } from "../../../core/errors.js";

/** Line ends of an input: `lf` for LF, CRLF or a mix; `cr` for classic Mac OS files. */
export type LineEnd = "lf" | "cr";

/** The text of an input: decompressed, UTF-8, without byte order mark. */
export interface TextBytes {
  readonly name: string;
  readonly chunks: AsyncGenerator<Buffer>;
  readonly lineEnd: LineEnd;
  /** Those about the input as a whole, to be extended. */
  readonly warnings: string[];
}

export interface Line {
  readonly text: string;
  readonly number: number;
  /** Bytes, with its line end. */
  readonly size: number;
}

/**
 * Reads the lines of an input except blank and comment lines, in one non-empty batch per chunk. The
 * last line needs no line end.
 * @throws FatalError `input_record_too_long` with the line number
 */
export async function* contentLines(
  input: TextBytes,
  isComment: (text: string) => boolean,
): AsyncGenerator<readonly Line[]> {
  const splitter = splitLines();
  let number = 0;
  const linesOf = (records: readonly Buffer[]): Line[] => {
    const lines: Line[] = [];
    for (const record of records) {
      number += 1;
      const content = withoutLineEnd(record);
      if (content.length > limits.recordBytes) throw tooLong(input.name, number);
      const text = decodeBytes(content);
      if (!isBlank(text) && !isComment(text)) {
        lines.push({ text, number, size: record.length });
      }
    }
    return lines;
  };
  // Length and offsets stay the same.
  const toLineFeeds = (chunk: Buffer): Buffer =>
    input.lineEnd === "lf"
      ? chunk
      : Buffer.from(chunk.map((byte) => (byte === carriageReturn ? lineFeed : byte)));
  for await (const chunk of input.chunks) {
    const lines = linesOf(splitter.push(toLineFeeds(chunk)));
    if (lines.length > 0) yield lines;
    // One extra byte for a carriage return.
    if (splitter.pending > limits.recordBytes + 1) throw tooLong(input.name, number + 1);
  }
  const rest = splitter.end();
  const last = rest === null ? [] : linesOf([rest]);
  if (last.length > 0) yield last;
}

/** Values that were taken out of an iterator, and the rest. */
export async function* continued<T>(
  first: readonly T[],
  rest: AsyncIterable<T>,
): AsyncGenerator<T> {
  yield* first;
  yield* rest;
}

export async function* mapLists<T, R>(
  lists: AsyncIterable<readonly T[]>,
  change: (entry: T) => R,
): AsyncGenerator<readonly R[]> {
  for await (const list of lists) yield list.map((entry) => change(entry));
}

export async function* flatMapLists<T, R>(
  lists: AsyncIterable<readonly T[]>,
  expand: (entry: T) => readonly R[],
): AsyncGenerator<readonly R[]> {
  for await (const list of lists) yield list.flatMap((entry) => expand(entry));
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

function withoutLineEnd(record: Buffer): Buffer {
  let end = record.length;
  if (record[end - 1] === lineFeed) end -= 1;
  if (record[end - 1] === carriageReturn) end -= 1;
  return record.subarray(0, end);
}

function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  // Most lines start with a printable ASCII character, which is the fast path.
  return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}

function tooLong(name: string, line: number): FatalError {
  const message = `line ${line} of ${name} is longer than the limit of 16 MiB`;
  return new FatalError("input_record_too_long", message, {
    hint: "check that --from matches the input's format; if it does, fix or remove the line",
  });
}

export const limits = {
  /** Longest record (a line, or a CSV record of several lines), in bytes. */
  recordBytes: 16 * 1024 * 1024,
  /** Bytes examined to detect an input's format. */
  headBytes: 64 * 1024,
  /** NDJSON: lines without an object tolerated before the first object. */
  linesBeforeObject: 10_000,
  /** NDJSON: objects searched for a path named by a flag. */
  objectsSearched: 100,
  /** Records examined to find the item column. */
  sampleRecords: 200,
  /** The same, while no column has anything to look up. */
  mostSampled: 10_000,
  /** Content lines examined to detect an input's format. */
  sampleLines: 20,
} as const;

const quote = 0x22;

/**
 * Splits bytes into records, each including its line end. With `quoting`, line feeds inside quotes
 * belong to the record (RFC 4180, section 2, rule 6).
 */
export class RecordSplitter {
  readonly #quoting: boolean;
  #rest: Buffer[] = [];
  #restLength = 0;
  #quoted = false;

  constructor({ quoting }: { readonly quoting: boolean }) {
    this.#quoting = quoting;
  }

  get pending(): number {
    return this.#restLength;
  }

  /** Returns the records that end in this chunk. The remainder is copied. */
  push(chunk: Buffer): Buffer[] {
    const records: Buffer[] = [];
    let start = 0;
    let quoteAt = this.#quoting ? chunk.indexOf(quote) : -1;
    const passQuotes = (end: number): void => {
      for (; quoteAt !== -1 && quoteAt < end; quoteAt = chunk.indexOf(quote, quoteAt + 1)) {
        this.#quoted = !this.#quoted;
      }
    };
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, end + 1)) {
      passQuotes(end);
      if (this.#quoted) continue;
      const piece = chunk.subarray(start, end + 1);
      records.push(this.#restLength === 0 ? piece : Buffer.concat([...this.#rest, piece]));
      this.#rest = [];
      this.#restLength = 0;
      start = end + 1;
    }
    passQuotes(chunk.length);
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
    this.#restLength += chunk.length - start;
    return records;
  }

  end(): Buffer | null {
    const rest = this.#restLength === 0 ? null : Buffer.concat(this.#rest);
    this.#rest = [];
    this.#restLength = 0;
    return rest;
  }
}

export const splitLines = (): RecordSplitter => new RecordSplitter({ quoting: false });
