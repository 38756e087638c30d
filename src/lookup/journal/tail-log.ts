import {
  closeSync,
  fdatasync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import { eachRecordIn } from "./record-block.js";

const dataSync = promisify(fdatasync);

/** Records in the log, each behind its length (`record-block.ts`). */
export interface LoggedPiece {
  /** Sequence number of the first; those of the others follow without a gap. */
  readonly sequence: number;
  readonly bytes: Buffer;
}

/** A record in the log. */
export interface LoggedRecord {
  readonly sequence: number;
  readonly record: Buffer;
}

/** Length of the bytes, their CRC-32 and the sequence number: 32 bits each, little endian. */
const headBytes = 12;

/** A longer block is not kept for the next time. */
const mostBlockBytes = 1024 * 1024;

/**
 * The journal's newest records, as plain files to which each turn of the event loop appends: safe
 * from the end of the process at once, for the price of a system call. The database takes them over
 * in large transactions, each of which costs a flush of the disk; then their file goes.
 */
export class TailLog {
  readonly #folder: string;
  #name: string | null = null;
  #file = -1;
  #block = Buffer.alloc(0);
  /** Resolves when no `sync` of the file is under way: until then its number is not given back. */
  #synced: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Appends pieces. @throws what the file system says; one that is cut off is passed over by `read` */
  append(pieces: readonly LoggedPiece[]): void {
    const [first] = pieces;
    if (first === undefined) return;
    if (this.#name === null) {
      const name = `tail-${String(first.sequence).padStart(12, "0")}`;
      this.#file = openSync(join(this.#folder, name), "wx", 0o600);
      this.#name = name;
    }
    let length = 0;
    for (const { bytes } of pieces) length += headBytes + bytes.length;
    const block = this.#blockOf(length);
    let at = 0;
    for (const { sequence, bytes } of pieces) {
      block.writeUInt32LE(bytes.length, at);
      block.writeUInt32LE(crc32(bytes), at + 4);
      block.writeUInt32LE(sequence, at + 8);
      block.set(bytes, at + headBytes);
      at += headBytes + bytes.length;
    }
    if (writeSync(this.#file, block, 0, length) < length) {
      throw Object.assign(new Error("a record was written in part"), { code: "ENOSPC" });
    }
  }

  /** Room for what is appended at once, the same from one time to the next unless it is much. */
  #blockOf(length: number): Buffer {
    if (length > mostBlockBytes) return Buffer.allocUnsafe(length);
    if (this.#block.length < length) this.#block = Buffer.allocUnsafeSlow(2 * length);
    return this.#block;
  }

  /** Resolves when a loss of power can no longer lose what was appended since `rotate`. */
  async sync(): Promise<void> {
    if (this.#name === null) return;
    const sync = dataSync(this.#file);
    this.#synced = Promise.allSettled([this.#synced, sync]);
    await sync;
  }

  /** Begins a new file; returns what drops the one so far, once its records are safe elsewhere. */
  rotate(): () => void {
    const name = this.#name;
    if (name === null) return () => undefined;
    const file = this.#file;
    void this.#synced.then(() => closeSync(file));
    this.#synced = Promise.resolve();
    this.#name = null;
    return () => rmSync(join(this.#folder, name), { force: true });
  }

  /** Reads what earlier processes left, in order, up to a piece that is cut off or damaged. */
  *read(): Generator<LoggedPiece> {
    for (const name of this.#names()) {
      const bytes = readFileSync(join(this.#folder, name));
      for (let at = 0; at + headBytes <= bytes.length;) {
        const end = at + headBytes + bytes.readUInt32LE(at);
        const piece = bytes.subarray(at + headBytes, end);
        if (end > bytes.length || crc32(piece) !== bytes.readUInt32LE(at + 4)) break;
        yield { sequence: bytes.readUInt32LE(at + 8), bytes: piece };
        at = end;
      }
    }
  }

  /** Reads the records of what `read` gives. */
  *readRecords(): Generator<LoggedRecord> {
    for (const piece of this.read()) {
      const records: LoggedRecord[] = [];
      eachRecordIn(piece.sequence, piece.bytes, (sequence, record) =>
        records.push({ sequence, record }),
      );
      yield* records;
    }
  }

  /** Removes the files of earlier processes. */
  clear(): void {
    for (const name of this.#names()) rmSync(join(this.#folder, name), { force: true });
  }

  #names(): readonly string[] {
    return readdirSync(this.#folder)
      .filter((name) => name.startsWith("tail-"))
      .sort();
  }
}
