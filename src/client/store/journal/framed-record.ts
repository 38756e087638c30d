import { crc32 } from "node:zlib";
import {
  maxRecordBytes,
  type RecordHead,
  type RecordParts,
  minRecordBytes,
  writeRecord,
} from "../finding-record.js";

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

export function readFramed(bytes: Buffer, at: number): FramedRecord {
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
export function endOf({ offset, record }: LocatedRecord): number {
  return nextStart(offset * offsetUnit + headBytes + record.length);
}

function nextStart(end: number): number {
  return Math.ceil(end / offsetUnit) * offsetUnit;
}
