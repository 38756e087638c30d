import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  openSync,
  read,
  readSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { RecordHead, RecordParts } from "./finding-record.js";
import {
  damaged,
  endOf,
  frameRecord,
  mostFramedBytes,
  otherVersion,
  type PlacedRecord,
  recordsIn,
  unit,
  wholeRecord,
} from "./framed-record.js";

const dataSync = promisify(fdatasync);
const readAt = promisify(read);

/** What the file begins with. */
const name = "repute journal ";
const firstLine = `${name}7\n`;

/** So much is read at once; few records are longer. */
const readBytes = 4096;

/** So much is read at once where all records are. */
const scanBytes = 1024 * 1024;

/** Room for what was not written yet; more than that is not kept for the next time. */
const roomBytes = 256 * 1024;

/**
 * The file of a journal's records, to which each turn of the event loop appends. What was written is
 * safe from the end of the process; what a loss of power left of the last records is cut away later.
 */
export class RecordLog {
  readonly #file: number;
  /** Where the next record begins, in bytes, written or not. */
  #end: number;
  /** Where in the file `#unwritten` begins. */
  #written: number;
  #unwritten = Buffer.allocUnsafeSlow(roomBytes);
  readonly #read = Buffer.allocUnsafeSlow(readBytes);

  /**
   * Opens the file in a folder, a new one where there is none.
   *
   * @throws FatalError with code `journal_format` when another version of repute wrote it,
   *   `journal_damaged` when nothing says who did
   * @throws what the file system says
   */
  constructor(folder: string) {
    this.#file = openSync(join(folder, "records"), constants.O_RDWR | constants.O_CREAT, 0o600);
    try {
      this.#end = this.#opened(folder);
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
    this.#written = this.#end;
  }

  /** Reads or writes the first line; returns where the records so far end at the latest. */
  #opened(folder: string): number {
    const line = Buffer.alloc(unit);
    const length = readSync(this.#file, line, 0, unit, 0);
    // A process that was killed at once may have left a part of the line, and no record.
    if (length < unit) {
      line.fill(0).write(firstLine);
      writeWhole(this.#file, line, unit, 0);
      return unit;
    }
    const found = line.toString("latin1");
    if (!found.startsWith(name)) throw damaged(folder, "its first line is not what it was");
    if (!found.startsWith(firstLine)) throw otherVersion(folder);
    return fstatSync(this.#file).size;
  }

  /** The place that the next record gets. */
  get next(): number {
    return this.#end / unit;
  }

  /** Bytes of records that `write` would write. */
  get waiting(): number {
    return this.#end - this.#written;
  }

  /**
   * Reads all whole records of earlier sessions, in order, and lets go of what follows the last of
   * them. To be used before anything is added.
   *
   * @param durable bytes of the file that a loss of power cannot have lost. What is behind them may
   * end anywhere.
   * @param onGap told of each place, from its first byte to the one behind it, that lost its records
   */
  async *replay(
    durable = 0,
    onGap: (from: number, to: number) => void = () => undefined,
  ): AsyncGenerator<readonly PlacedRecord[]> {
    const size = this.#end;
    let bytes = Buffer.allocUnsafeSlow(scanBytes);
    let end = unit;
    for (let at = unit; at < size;) {
      const length = Math.min(bytes.length, size - at);
      await readWhole(this.#file, bytes, length, at);
      const found = recordsIn(bytes.subarray(0, length), at, size);
      if (found.records.length > 0) {
        for (const record of found.records) {
          if (end < record.place * unit) onGap(end, record.place * unit);
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

  /** Adds a record, to be written by the next `write`; returns its place. */
  add(head: RecordHead, parts: RecordParts): number {
    const start = this.waiting;
    const most = start + mostFramedBytes(parts);
    if (most > this.#unwritten.length) this.#makeRoom(start, most);
    const end = frameRecord(this.#unwritten, start, head, parts);
    const place = this.#end / unit;
    this.#end += end - start;
    return place;
  }

  /**
   * Writes what was added.
   *
   * @throws what the file system says; what was added can be read all the same
   */
  write(): void {
    const length = this.waiting;
    if (length === 0) return;
    if (this.#end / unit > mostPlace) {
      throw Object.assign(new Error("it has 128 GiB"), { code: "EFBIG" });
    }
    writeWhole(this.#file, this.#unwritten, length, this.#written);
    this.#written = this.#end;
    if (this.#unwritten.length > 16 * roomBytes) {
      this.#unwritten = Buffer.allocUnsafeSlow(roomBytes);
    }
  }

  /**
   * The record at a place; its bytes stay what they are until the next call of a method. Undefined
   * where the file does not have it any more as it was written.
   */
  at(place: number): Buffer | undefined {
    const start = place * unit;
    if (start >= this.#written) return wholeRecord(this.#unwritten, start - this.#written).record;
    const length = readSync(this.#file, this.#read, 0, readBytes, start);
    const { record, needed } = wholeRecord(this.#read.subarray(0, length), 0);
    if (record !== undefined || length < readBytes) return record;
    if (start + needed > this.#written) return undefined;
    const longer = Buffer.allocUnsafe(needed);
    return wholeRecord(longer.subarray(0, readSync(this.#file, longer, 0, needed, start)), 0)
      .record;
  }

  /**
   * Resolves when a loss of power can no longer lose what was written.
   *
   * @returns how long the file was, in bytes, when this was called
   */
  async sync(): Promise<number> {
    const written = this.#written;
    await dataSync(this.#file);
    return written;
  }

  /** Nothing may be under way. */
  close(): void {
    closeSync(this.#file);
  }

  #makeRoom(used: number, needed: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#unwritten.length));
    this.#unwritten.copy(larger, 0, 0, used);
    this.#unwritten = larger;
  }
}

/** The last place that 32 bits can say. */
const mostPlace = 2 ** 32 - 1;

/** Reads in a loop: before a page that cannot be read, the system gives less than was asked for. */
async function readWhole(
  file: number,
  bytes: Buffer,
  length: number,
  position: number,
): Promise<void> {
  for (let done = 0; done < length;) {
    const { bytesRead } = await readAt(file, bytes, done, length - done, position + done);
    if (bytesRead === 0) throw new Error("its file became shorter while it was read");
    done += bytesRead;
  }
}

/** Writes in a loop: the system says why it took only a part when it is asked again. */
function writeWhole(file: number, bytes: Buffer, length: number, position: number): void {
  for (let done = 0; done < length;) {
    const written = writeSync(file, bytes, done, length - done, position + done);
    if (written === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
    done += written;
  }
}
