import type { EnrichedRow } from "../core/row.js";
import type { Encoder } from "./types.js";

const lineFeed = 0x0a;
const quote = 0x22;

/**
 * Cuts bytes into records, each with its line end. With quoting, a line feed within quotes
 * (RFC 4180) belongs to the record; without, every one ends it.
 */
export class RecordSplitter {
  readonly #quoting: boolean;
  /** The beginning of a record that no chunk has ended yet. */
  #rest: Buffer[] = [];
  #restLength = 0;
  #quoted = false;

  constructor({ quoting }: { readonly quoting: boolean }) {
    this.#quoting = quoting;
  }

  /** Bytes of the record that has not ended yet. */
  get pending(): number {
    return this.#restLength;
  }

  /** The records that end within these bytes; what is left of them is copied. */
  push(chunk: Buffer): Buffer[] {
    const records: Buffer[] = [];
    let start = 0;
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, end + 1)) {
      if (this.#endsQuoted(chunk, from, end)) {
        from = end + 1;
        continue;
      }
      const piece = chunk.subarray(start, end + 1);
      records.push(this.#restLength === 0 ? piece : Buffer.concat([...this.#rest, piece]));
      this.#rest = [];
      this.#restLength = 0;
      start = from = end + 1;
    }
    this.#endsQuoted(chunk, from, chunk.length);
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
    this.#restLength += chunk.length - start;
    return records;
  }

  /** What is left behind the last line end; null when nothing is. */
  end(): Buffer | null {
    const rest = this.#restLength === 0 ? null : Buffer.concat(this.#rest);
    this.#rest = [];
    this.#restLength = 0;
    return rest;
  }

  /** Whether the bytes leave a quote open; tells of the next bytes after these. */
  #endsQuoted(chunk: Buffer, from: number, to: number): boolean {
    if (!this.#quoting) return false;
    for (let at = from; at < to; at++) if (chunk[at] === quote) this.#quoted = !this.#quoted;
    return this.#quoted;
  }
}

/** Cuts an output into lines. */
export const splitLines = (): RecordSplitter => new RecordSplitter({ quoting: false });

/** An encoder of rows that need nothing before or between them. */
export function linesEncoder(encodeRow: (row: EnrichedRow) => string): Encoder {
  return {
    header: "",
    encode(rows) {
      let text = "";
      for (const row of rows) text += encodeRow(row);
      return text;
    },
  };
}
