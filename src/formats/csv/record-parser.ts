import { Parser } from "csv-parse";
import type { CsvDialect } from "./scan-cells.js";

/** A record as it was cut. Its cells have a character for each byte. */
export interface ParsedRecord {
  readonly cells: string[];
  /** Byte offset after the record's line end. */
  readonly end: number;
}

/**
 * csv-parse with records taken before the stream queues them. The queue costs one promise per
 * record, and `info` no longer tells where a record ended by the time it is read from there.
 */
export class RecordParser extends Parser {
  readonly #from: number;
  #records: ParsedRecord[] = [];

  /** @param from offset of the first byte that it will read */
  constructor({ delimiter, comment, spaced, lineEnd }: CsvDialect, from: number) {
    super({
      delimiter,
      comment: comment === null ? null : Buffer.from(comment, "utf8").toString("latin1"),
      comment_no_infix: true,
      encoding: "latin1",
      ltrim: spaced,
      record_delimiter: lineEnd === "cr" ? ["\r\n", "\n", "\r"] : ["\r\n", "\n"],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
    this.#from = from;
    // Errors arrive through the callbacks below, but the event must have a listener.
    this.on("error", () => {});
  }

  override push(cells: string[] | null): boolean {
    if (cells === null) return super.push(null);
    this.#records.push({ cells, end: this.#from + this.info.bytes });
    // csv-parse compares each record's length with the first one's. For every difference it creates
    // an error with a stack (25 µs) and then ignores it. Resetting the count makes every record the
    // first.
    (this.info as { records: number }).records = 0;
    return true;
  }

  /** @returns the parser's error, or null */
  feed(chunk: Buffer | null): Promise<Error | null> {
    return new Promise((resolve) => {
      const done = (error?: Error | null): void => resolve(error ?? null);
      if (chunk === null) this.end(done);
      else this.write(chunk, done);
    });
  }

  takeRecords(): ParsedRecord[] {
    return this.#records.splice(0);
  }
}
