const lineFeed = 0x0a;
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
