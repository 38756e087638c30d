import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { makeFolder } from "../../../core/files/make-folder.js";
import type { RecordHead, RecordParts } from "../finding-record.js";
import {
  endOf,
  frameRecord,
  maxFramedBytes,
  type LocatedRecord,
  recordsIn,
  offsetUnit,
  readFramed,
} from "./framed-record.js";
import { journalDamaged, journalVersionMismatch } from "./journal-fault.js";

const syncData = promisify(fdatasync);
const readAt = promisify(read);

/** Start of the file's first line. */
const name = "repute journal ";
const firstLine = `${name}7\n`;

/** Read size for one record; few are longer. */
const recordReadBytes = 4096;

/** Read size for a scan of the file. */
const scanBytes = 1024 * 1024;

/** Initial size of the write buffer, in bytes. */
const bufferBytes = 256 * 1024;

/**
 * The append-only file of a journal's records, written once per event loop turn. Written records
 * survive the death of the process. Records cut short by a power loss are truncated on the next
 * open.
 */
export class RecordLog {
  readonly #file: number;
  /** File position of the next record, written or not. */
  #end: number;
  /** File position where `#unwritten` starts. */
  #written: number;
  #unwritten = Buffer.allocUnsafeSlow(bufferBytes);
  readonly #read = Buffer.allocUnsafeSlow(recordReadBytes);

  /**
   * Opens the log in a folder, creating it if missing.
   * @throws FatalError `journal_format` if another version of repute wrote it, `journal_damaged` if
   *   its first line is unreadable
   * @throws the system error
   */
  constructor(folder: string) {
    this.#file = openSync(join(folder, "records"), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      this.#end = this.#readHeader(folder);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
    this.#written = this.#end;
  }

  /** Reads or writes the first line. Returns the file's length, the upper bound of its records. */
  #readHeader(folder: string): number {
    const line = Buffer.alloc(offsetUnit);
    const length = readSync(this.#file, line, 0, offsetUnit, 0);
    // A process killed during its first write may leave part of the line and no record.
    if (length < offsetUnit) {
      line.fill(0).write(firstLine);
      writeWhole(this.#file, line, offsetUnit, 0);
      return offsetUnit;
    }
    const found = line.toString("latin1");
    if (!found.startsWith(name)) throw journalDamaged(folder, "its first line is unreadable");
    if (!found.startsWith(firstLine)) throw journalVersionMismatch(folder);
    return fstatSync(this.#file).size;
  }

  /** Offset of the next record. */
  get next(): number {
    return this.#end / offsetUnit;
  }

  /** Bytes that the next `write` writes. */
  get pendingBytes(): number {
    return this.#end - this.#written;
  }

  /**
   * Reads the intact records of earlier sessions, in order, and truncates the file after the last
   * one. Call before `add`.
   * @param durable length of the file known to survive a power loss; later bytes may be incomplete
   * @param onGap called with each damaged range, start inclusive, end exclusive
   */
  async *replay(
    durable = 0,
    onGap: (from: number, to: number) => void = () => undefined,
  ): AsyncGenerator<readonly LocatedRecord[]> {
    const size = this.#end;
    let bytes = Buffer.allocUnsafeSlow(scanBytes);
    let end = offsetUnit;
    for (let at = offsetUnit; at < size;) {
      const length = Math.min(bytes.length, size - at);
      await readWhole(this.#file, bytes, length, at);
      const found = recordsIn(bytes.subarray(0, length), at, size);
      if (found.records.length > 0) {
        for (const record of found.records) {
          if (end < record.offset * offsetUnit) onGap(end, record.offset * offsetUnit);
          end = endOf(record);
        }
        yield found.records;
      }
      if (found.needed > bytes.length) bytes = Buffer.allocUnsafeSlow(found.needed);
      at = found.next;
    }
    if (end < durable) onGap(end, durable);
    if (end < size) ftruncateSync(this.#file, end);
    this.#end = end;
    this.#written = end;
  }

  /** Appends a record to the write buffer. Returns its offset. */
  add(head: RecordHead, parts: RecordParts): number {
    const start = this.pendingBytes;
    const most = start + maxFramedBytes(parts);
    if (most > this.#unwritten.length) this.#grow(start, most);
    const end = frameRecord(this.#unwritten, start, head, parts);
    const offset = this.#end / offsetUnit;
    this.#end += end - start;
    return offset;
  }

  /**
   * Writes the buffer to the file.
   * @throws the system error; added records stay readable
   */
  write(): void {
    const length = this.pendingBytes;
    if (length === 0) return;
    if (this.#end / offsetUnit > maxOffset) {
      throw Object.assign(new Error("it has reached 128 GiB"), { code: "EFBIG" });
    }
    writeWhole(this.#file, this.#unwritten, length, this.#written);
    this.#written = this.#end;
    if (this.#unwritten.length > 16 * bufferBytes) {
      this.#unwritten = Buffer.allocUnsafeSlow(bufferBytes);
    }
  }

  /**
   * The record at an offset; undefined if it is damaged. The bytes are valid until the next method
   * call.
   */
  at(offset: number): Buffer | undefined {
    const start = offset * offsetUnit;
    if (start >= this.#written) return readFramed(this.#unwritten, start - this.#written).record;
    const length = readSync(this.#file, this.#read, 0, recordReadBytes, start);
    const { record, needed } = readFramed(this.#read.subarray(0, length), 0);
    if (record !== undefined || length < recordReadBytes) return record;
    if (start + needed > this.#written) return undefined;
    const longer = Buffer.allocUnsafe(needed);
    return readFramed(longer.subarray(0, readSync(this.#file, longer, 0, needed, start)), 0).record;
  }

  /**
   * Makes written records survive a power loss.
   * @returns length of the file, in bytes, at the time of the call
   */
  async sync(): Promise<number> {
    const written = this.#written;
    await syncData(this.#file);
    return written;
  }

  /** Copies a file that was removed, so that only this process can read it; false if it wasn't. */
  saveRemoved(folder: string): boolean {
    if (fstatSync(this.#file).nlink > 0) return false;
    makeFolder(folder, 0o700);
    const copy = openSync(join(folder, "records"), "w", 0o600);
    try {
      const bytes = Buffer.allocUnsafeSlow(scanBytes);
      for (let at = 0; at < this.#written;) {
        const length = readSync(this.#file, bytes, 0, Math.min(scanBytes, this.#written - at), at);
        writeWhole(copy, bytes, length, at);
        at += length;
      }
      fsyncSync(copy);
    } finally {
      closeSync(copy);
    }
    return true;
  }

  /** No operation may be in progress. */
  close(): void {
    closeSync(this.#file);
  }

  #grow(used: number, needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#unwritten.length));
    this.#unwritten.copy(larger, 0, 0, used);
    this.#unwritten = larger;
  }
}

/** Largest offset in 32 bits. */
const maxOffset = 2 ** 32 - 1;

/** Reads in a loop: before an unreadable page the system returns fewer bytes than requested. */
async function readWhole(
  file: number,
  bytes: Buffer,
  length: number,
  position: number,
): Promise<void> {
  for (let done = 0; done < length;) {
    const { bytesRead } = await readAt(file, bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new Error("the file was truncated while being read");
    done += bytesRead;
  }
}

/** Writes in a loop: after a partial write only the next call returns the error. */
function writeWhole(file: number, bytes: Buffer, length: number, position: number): void {
  for (let done = 0; done < length;) {
    const written = writeSync(file, bytes, done, length - done, position + done);
    if (written === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
    done += written;
  }
}
