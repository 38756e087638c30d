import type { ColumnType } from "../../core/columns.js";
import type { EnrichedRow } from "../../core/row.js";
import type { CellReader, CellValue } from "../warehouse/cell-values.js";

/** Bytes that are taken from the system at once. */
const chunkSize = 256 * 1024;

/** Characters up to which a text is written one by one. */
const shortText = 40;

/** PGCOPY, flags and extension length of zero (PostgreSQL, COPY, Binary Format). */
const header = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");

/** A tuple of -1 fields ends the data. */
const trailer = Buffer.from([0xff, 0xff]);

/** 2000-01-01, from which the server counts, in microseconds since 1970. */
const epoch = 946_684_800_000_000n;

/** Object identifier of the type `text` (src/include/catalog/pg_type.dat). */
const textOid = 25;

/**
 * Rows in the binary form of COPY: lengths instead of delimiters, so that no value can be taken for
 * anything else, and times and numbers that the server need not parse.
 */
export class BinaryCopy {
  readonly #types: readonly ColumnType[];
  readonly #readers: readonly CellReader[];
  #chunks: Buffer[] = [];
  #chunk = Buffer.alloc(0);
  /** The same memory; its 64-bit writes are several times quicker than a buffer's. */
  #view = new DataView(new ArrayBuffer(0));
  #at = 0;
  #rows = 0;
  #bytes = 0;

  /** @param readers one a column, with times in microseconds */
  constructor(types: readonly ColumnType[], readers: readonly CellReader[]) {
    this.#types = types;
    this.#readers = readers;
  }

  /** Rows since the last `clear`. */
  get rows(): number {
    return this.#rows;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes + this.#at;
  }

  add(enriched: EnrichedRow): void {
    this.#reserve(2);
    this.#view.setInt16(this.#at, this.#readers.length);
    this.#at += 2;
    for (let index = 0; index < this.#readers.length; index++) {
      this.#field(this.#types[index]!, this.#readers[index]!(enriched));
    }
    this.#rows++;
  }

  /** Everything since the last `clear`, whole; may be asked for again and again. */
  data(): readonly Buffer[] {
    return [header, ...this.#chunks, this.#chunk.subarray(0, this.#at), trailer];
  }

  clear(): void {
    this.#chunks = [];
    this.#at = 0;
    this.#rows = 0;
    this.#bytes = 0;
  }

  #field(type: ColumnType, value: CellValue): void {
    if (value === null) {
      this.#int32(-1);
    } else if (typeof value === "string") {
      this.#text(value);
    } else if (typeof value === "bigint") {
      this.#int64(type === "timestamp" ? value - epoch : value);
    } else if (typeof value === "boolean") {
      this.#reserve(5);
      this.#view.setInt32(this.#at, 1);
      this.#chunk[this.#at + 4] = value ? 1 : 0;
      this.#at += 5;
    } else {
      this.#list(value);
    }
  }

  #text(value: string): void {
    // UTF-8 takes three bytes a code unit at most; long ones are measured.
    const most = value.length < 1024 ? value.length * 3 : Buffer.byteLength(value);
    this.#reserve(4 + most);
    const start = this.#at + 4;
    const ascii = value.length < shortText ? this.#ascii(value, start) : false;
    const length = ascii ? value.length : this.#chunk.write(value, start);
    this.#view.setInt32(this.#at, length);
    this.#at = start + length;
  }

  /** Writes a text if it is ASCII; for a short one that is quicker than a call into the engine. */
  #ascii(value: string, start: number): boolean {
    const chunk = this.#chunk;
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      chunk[start + index] = code;
    }
    return true;
  }

  #int32(value: number): void {
    this.#reserve(4);
    this.#view.setInt32(this.#at, value);
    this.#at += 4;
  }

  #int64(value: bigint): void {
    this.#reserve(12);
    this.#view.setInt32(this.#at, 8);
    this.#view.setBigInt64(this.#at + 4, value);
    this.#at += 12;
  }

  /** An array of one dimension that begins at 1; none at all when it is empty (array_send). */
  #list(values: readonly string[]): void {
    const empty = values.length === 0;
    let length = empty ? 12 : 20;
    for (const value of values) length += 4 + Buffer.byteLength(value);
    this.#reserve(4 + length);
    this.#int32(length);
    this.#int32(empty ? 0 : 1);
    this.#int32(0);
    this.#int32(textOid);
    if (empty) return;
    this.#int32(values.length);
    this.#int32(1);
    for (const value of values) this.#text(value);
  }

  /** Makes room for `size` bytes in one piece. */
  #reserve(size: number): void {
    if (this.#at + size <= this.#chunk.length) return;
    if (this.#at > 0) {
      this.#chunks.push(this.#chunk.subarray(0, this.#at));
      this.#bytes += this.#at;
    }
    const memory = new ArrayBuffer(Math.max(chunkSize, size));
    this.#chunk = Buffer.from(memory);
    this.#view = new DataView(memory);
    this.#at = 0;
  }
}
