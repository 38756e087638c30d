import { Parser } from "csv-parse";
import type { CsvDialect } from "./csv-dialect.js";

/** What csv-parse knows when it has read a record. */
export interface ParsedRecord {
  /** One character a byte (latin1). */
  readonly cells: string[];
  /** Bytes up to behind the record's line end. */
  readonly bytes: number;
  /** Lines so far; counts each CR and each LF within a cell. */
  readonly lines: number;
}

/**
 * csv-parse, with its records taken where it would queue them: a stream's queue costs a promise a
 * record, and by the time it is read the parser's `info` no longer tells where the record ended.
 */
export class RecordParser extends Parser {
  #records: ParsedRecord[] = [];

  constructor({ delimiter, comment, spaced, lineEnd }: CsvDialect) {
    super({
      delimiter,
      comment: comment === null ? null : Buffer.from(comment, "utf8").toString("latin1"),
      comment_no_infix: true,
      // Cells are decoded one by one afterwards, so that a bad byte is kept and spoils nothing else.
      encoding: "latin1",
      ltrim: spaced,
      record_delimiter: lineEnd === "cr" ? ["\r\n", "\n", "\r"] : ["\r\n", "\n"],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
    // The callbacks below tell of errors; the event needs a listener all the same.
    this.on("error", () => {});
  }

  override push(cells: string[] | null): boolean {
    if (cells === null) return super.push(null);
    this.#records.push({ cells, bytes: this.info.bytes, lines: this.info.lines });
    // csv-parse measures all records by the first one's length, and for each that differs makes an
    // error with a stack (25 µs) only to ignore it. Without a count each is the first one.
    (this.info as { records: number }).records = 0;
    return true;
  }

  /** Resolves to what stopped the parser, or null. */
  async feed(chunk: Buffer): Promise<Error | null> {
    return new Promise((resolve) => {
      this.write(chunk, (error) => resolve(error ?? null));
    });
  }

  /** Says that there is no more. Resolves to what is wrong with the end, or null. */
  async finish(): Promise<Error | null> {
    return new Promise((resolve) => {
      this.end((error?: Error | null) => resolve(error ?? null));
    });
  }

  /** The records since the last call. */
  takeRecords(): ParsedRecord[] {
    const records = this.#records;
    this.#records = [];
    return records;
  }
}
