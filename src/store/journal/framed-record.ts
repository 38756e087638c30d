import { crc32 } from "node:zlib";
import {
  mostRecordBytes,
  type RecordHead,
  type RecordParts,
  shortestRecord,
  writeRecord,
} from "./finding-record.js";

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
