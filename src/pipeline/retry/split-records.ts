const quote = 0x22;
const lineFeed = 0x0a;

/**
 * Cuts the bytes of an output into its records, each with its line end, so that a record can be
 * copied to the letter. A line feed within quotes (RFC 4180) belongs to the record; without quoting
 * (NDJSON) every one ends it.
 */
export class RecordSplitter {
  readonly #quoting: boolean;
  #quoted = false;
  #rest: Buffer[] = [];

  constructor(quoting: boolean) {
    this.#quoting = quoting;
  }

  /** The records that end within these bytes. */
  push(chunk: Buffer): Buffer[] {
    const records: Buffer[] = [];
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index];
      if (byte === quote && this.#quoting) this.#quoted = !this.#quoted;
      if (byte !== lineFeed || this.#quoted) continue;
      const piece = chunk.subarray(start, index + 1);
      records.push(this.#rest.length === 0 ? piece : Buffer.concat([...this.#rest, piece]));
      this.#rest = [];
      start = index + 1;
    }
    if (start < chunk.length) this.#rest.push(Buffer.from(chunk.subarray(start)));
    return records;
  }

  /** What stands behind the last line end; null when nothing does. */
  end(): Buffer | null {
    return this.#rest.length === 0 ? null : Buffer.concat(this.#rest);
  }
}
