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
import { makeFolder } from "../../../core/files/folders.js";
import {
  type RecordHead,
  type RecordParts,
  maxRecordBytes,
  minRecordBytes,
  writeRecord,
} from "../finding-record.js";
import { crc32 } from "node:zlib";
import { FatalError, ReputeError, startOver } from "../../../core/errors.js";
import { faultReason, knownFault } from "../../../core/files/system-fault.js";

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

/**
 * Records start at multiples of this many bytes, so that a 32-bit offset can address a file of 128
 * GiB.
 */
export const offsetUnit = 32;

/**
 * Size of a frame header: record length, its bitwise complement, and the CRC-32 of the record, each
 * 32 bits little endian. The complement guards against trusting a damaged length.
 */
const headBytes = 12;

/** A record and its offset in `offsetUnit`s. */
export interface LocatedRecord {
  readonly offset: number;
  readonly record: Buffer;
}

/**
 * The result of reading one framed record; `record` is undefined if it is incomplete or damaged.
 */
interface FramedRecord {
  readonly record: Buffer | undefined;
  /** Bytes needed to read it, as far as its header tells. */
  readonly needed: number;
}

/** Upper bound of the framed length in bytes. */
export function maxFramedBytes(parts: RecordParts): number {
  return headBytes + maxRecordBytes(parts) + offsetUnit;
}

/** Writes a framed record into a buffer with enough room. Returns the position of the next one. */
export function frameRecord(to: Buffer, at: number, head: RecordHead, parts: RecordParts): number {
  const start = at + headBytes;
  const end = writeRecord(to, start, head, parts);
  to.writeUInt32LE(end - start, at);
  to.writeUInt32LE(~(end - start) >>> 0, at + 4);
  to.writeUInt32LE(crc32(to.subarray(start, end)), at + 8);
  const next = nextStart(end);
  to.fill(0, end, next);
  return next;
}

function readFramed(bytes: Buffer, at: number): FramedRecord {
  const start = at + headBytes;
  if (start > bytes.length) return { record: undefined, needed: headBytes };
  const length = bytes.readUInt32LE(at);
  if (length < minRecordBytes || bytes.readUInt32LE(at + 4) !== ~length >>> 0) {
    return { record: undefined, needed: 0 };
  }
  const needed = headBytes + length;
  if (start + length > bytes.length) return { record: undefined, needed };
  const record = bytes.subarray(start, start + length);
  const isWhole = crc32(record) === bytes.readUInt32LE(at + 8);
  return { record: isWhole ? record : undefined, needed };
}

/**
 * Finds the intact records in a section of the file, skipping damaged parts. The section must start
 * at a multiple of `offsetUnit`.
 * @param base file position of the section
 * @param size length of the file
 */
export function recordsIn(bytes: Buffer, base: number, size: number): FoundRecords {
  const records: LocatedRecord[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { record, needed } = readFramed(bytes, at);
    if (record === undefined) {
      const recordEnd = at + needed;
      if (recordEnd > bytes.length && base + recordEnd <= size) {
        return { records, next: base + at, needed };
      }
      at += offsetUnit;
    } else {
      records.push({ offset: (base + at) / offsetUnit, record });
      at = nextStart(at + needed);
    }
  }
  return { records, next: base + at, needed: 0 };
}

interface FoundRecords {
  readonly records: readonly LocatedRecord[];
  /** File position to continue from. */
  readonly next: number;
  /** Bytes to read from `next` to make progress; 0 for any number. */
  readonly needed: number;
}

/** File position of the next possible record. */
function endOf({ offset, record }: LocatedRecord): number {
  return nextStart(offset * offsetUnit + headBytes + record.length);
}

function nextStart(end: number): number {
  return Math.ceil(end / offsetUnit) * offsetUnit;
}

export function journalFault(
  folder: string,
  doing: "open" | "read" | "write",
  error: unknown,
): ReputeError {
  if (error instanceof ReputeError) return error;
  const { code, hint } = knownFault(error, codes) ?? unknownFault;
  const message = `cannot ${doing} the journal ${folder}: ${faultReason(error)}`;
  return new FatalError(code, message, { cause: error, hint });
}

function journalVersionMismatch(folder: string): FatalError {
  return new FatalError("journal_format", `another version of repute wrote the journal ${folder}`, {
    hint: `continue with that version, or ${startOver}`,
  });
}

function journalDamaged(folder: string, how: string): FatalError {
  return new FatalError("journal_damaged", `the journal ${folder} is damaged: ${how}`, {
    hint: startOver,
  });
}

const unknownFault = {
  code: "journal_unusable",
  hint: `check the disk, or ${startOver}`,
} as const;

const codes = {
  ENOSPC: "journal_disk_full",
  EDQUOT: "journal_disk_full",
  EMFILE: "journal_files",
  ENFILE: "journal_files",
  EFBIG: "journal_full",
  EROFS: "journal_read_only",
  EACCES: "journal_denied",
  EPERM: "journal_denied",
  ENOENT: "journal_folder_missing",
  ENOTDIR: "journal_folder_missing",
} as const;
