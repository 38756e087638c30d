import type { ErrorCode } from "../../core/error-codes.js";
import { crc32 } from "node:zlib";
import {
  mostRecordBytes,
  type RecordHead,
  type RecordParts,
  shortestRecord,
  writeRecord,
} from "./finding-record.js";
import { FatalError, ReputeError } from "../../core/errors.js";

/**
 * Records begin at multiples of so many bytes, so that 32 bits say where one of them is in a file of
 * 128 GiB: its place.
 */
export const unit = 32;

/**
 * Before a record: its length, the length with each bit turned, and the record's CRC-32, 32 bits each,
 * little endian. A length is believed only where both agree: what is damaged may say any.
 */
const headBytes = 12;

/** A record and where it is, in units. */
export interface PlacedRecord {
  readonly place: number;
  readonly record: Buffer;
}

/** A record, where it is there from its first byte to its last as it was written. */
interface WholeRecord {
  readonly record: Buffer | undefined;
  /** How many bytes it needs, as far as can be seen. */
  readonly needed: number;
}

/** Most bytes that the record of these parts takes. */
export function mostFramedBytes(parts: RecordParts): number {
  return headBytes + mostRecordBytes(parts) + unit;
}

/** Writes a record into a buffer that has room for it; returns where the next one may begin. */
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

/** The record that begins at a position. */
export function wholeRecord(bytes: Buffer, at: number): WholeRecord {
  const start = at + headBytes;
  if (start > bytes.length) return { record: undefined, needed: headBytes };
  const length = bytes.readUInt32LE(at);
  if (length < shortestRecord || bytes.readUInt32LE(at + 4) !== ~length >>> 0) {
    return { record: undefined, needed: 0 };
  }
  const needed = headBytes + length;
  if (start + length > bytes.length) return { record: undefined, needed };
  const record = bytes.subarray(start, start + length);
  const isWhole = crc32(record) === bytes.readUInt32LE(at + 8);
  return { record: isWhole ? record : undefined, needed };
}

/**
 * The whole records in a part of a file that begins where a record may begin. What is damaged is
 * passed over, up to the next whole record.
 *
 * @param offset where in the file the part begins
 * @param size where the file ends
 */
export function recordsIn(bytes: Buffer, offset: number, size: number): FoundRecords {
  const records: PlacedRecord[] = [];
  let at = 0;
  while (at < bytes.length) {
    const { record, needed } = wholeRecord(bytes, at);
    if (record === undefined) {
      const behind = at + needed;
      if (behind > bytes.length && offset + behind <= size) {
        return { records, next: offset + at, needed };
      }
      at += unit;
    } else {
      records.push({ place: (offset + at) / unit, record });
      at = nextStart(at + needed);
    }
  }
  return { records, next: offset + at, needed: 0 };
}

export interface FoundRecords {
  readonly records: readonly PlacedRecord[];
  /** Where in the file to go on. */
  readonly next: number;
  /** How many bytes from there on are needed at least to see more; 0 for any. */
  readonly needed: number;
}

/** Where in the file the next record may begin behind this one. */
export function endOf({ place, record }: PlacedRecord): number {
  return nextStart(place * unit + headBytes + record.length);
}

function nextStart(end: number): number {
  return Math.ceil(end / unit) * unit;
}

/** Explains why a journal cannot be opened, read or written, for the person who has to mend it. */
export function journalFault(
  folder: string,
  doing: "open" | "read" | "write",
  error: unknown,
): Error {
  if (error instanceof ReputeError) return error;
  const errno = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const known = typeof errno === "string" ? causes[errno] : undefined;
  if (known) {
    return new FatalError(known[0], `cannot ${doing} the journal ${folder}: ${known[1]}`, {
      cause: error,
      hint: known[2],
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new FatalError("journal_unusable", `cannot ${doing} the journal ${folder}: ${text}`, {
    cause: error,
    hint: "check the disk; with --restart the run begins anew, without the journal",
  });
}

/** What is said of a journal that cannot be read because its files are laid out differently. */
export function otherVersion(folder: string): FatalError {
  return new FatalError("journal_format", `another version of repute wrote the journal ${folder}`, {
    hint: "go on with that version, or begin anew with --restart",
  });
}

/** What is said of a journal that is not what was written. */
export function damaged(folder: string, how: string): FatalError {
  return new FatalError("journal_damaged", `the journal ${folder} is damaged: ${how}`, {
    hint: "with --restart the run begins anew, without the journal",
  });
}

const full = "free some space, then run again";

const files = "raise the limit (ulimit -n), then go on with --resume";

const causes: Readonly<Record<string, readonly [code: ErrorCode, text: string, hint: string]>> = {
  ENOSPC: ["journal_disk_full", "the disk is full", full],
  EDQUOT: ["journal_disk_full", "the disk quota is used up", full],
  EMFILE: ["journal_files", "too many files are open", files],
  ENFILE: ["journal_files", "too many files are open on this machine", files],
  EFBIG: ["journal_full", "it cannot become any longer", "split the input"],
  EROFS: ["journal_read_only", "the file system is read-only", "write elsewhere"],
  EACCES: ["journal_denied", "permission denied", "check the folder's owner and mode"],
  EPERM: ["journal_denied", "operation not permitted", "check the folder's owner and mode"],
  ENOENT: ["journal_folder_missing", "the folder does not exist", "was it moved during the run?"],
  ENOTDIR: ["journal_folder_missing", "a part of the path is no folder", "check the path"],
};
