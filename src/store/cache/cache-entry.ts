import { crc32 } from "node:zlib";
import type { Finding } from "../../core/finding.js";
import {
  findingText,
  type Keyed,
  parseFindingText,
  type ReadOptions,
} from "../journal/finding-record.js";
import { hashBytes } from "./cache-key.js";
import { type AnswerKind, answerKinds } from "./shelf-life.js";

/** What an entry says before its finding is read. */
export interface EntryHead {
  readonly kind: AnswerKind;
  /** When it was kept, in milliseconds since 1970. */
  readonly keptAt: number;
}

/**
 * Bytes of an entry: CRC-32 of what follows (32 bits, little endian), when it was kept (48 bits,
 * little endian, milliseconds since 1970), its kind (place in `answerKinds`), the hash of its key,
 * then key and finding as JSON in UTF-8.
 *
 * @param writeHash writes the key's hash to the beginning of a buffer
 */
export function encodeEntry(
  key: string,
  finding: Finding,
  { kind, keptAt }: EntryHead,
  writeHash: (into: Buffer) => void,
): Buffer {
  const bytes = Buffer.from(headSpace + findingText(key, finding));
  bytes.writeUIntLE(Math.max(0, Math.floor(keptAt)), at.keptAt, 6);
  bytes[at.kind] = answerKinds.indexOf(kind);
  writeHash(bytes.subarray(at.hash, at.hash + hashBytes));
  bytes.writeUInt32LE(crc32(bytes.subarray(at.keptAt)), 0);
  return bytes;
}

/** True when the bytes are those that were written. */
export function isIntact(bytes: Buffer): boolean {
  return (
    bytes.length > headSpace.length &&
    bytes.readUInt32LE(0) === crc32(bytes.subarray(at.keptAt)) &&
    bytes[at.kind]! < answerKinds.length
  );
}

/** Reads the head of an entry that is intact. */
export function readEntryHead(bytes: Buffer): EntryHead {
  return { kind: answerKinds[bytes[at.kind]!]!, keptAt: bytes.readUIntLE(at.keptAt, 6) };
}

/** The hash of an entry's key. */
export function entryHash(bytes: Buffer): Buffer {
  return bytes.subarray(at.hash, at.hash + hashBytes);
}

/** Reads the key and the finding of an entry that is intact. The finding's source is `live`. */
export function decodeEntry(bytes: Buffer, options?: ReadOptions): Keyed<Finding> {
  return parseFindingText(bytes.toString("utf8", headSpace.length, bytes.length), options);
}

const at = { keptAt: 4, kind: 10, hash: 11 } as const;

/** Room for the head: one byte a character in UTF-8. */
const headSpace = "\0".repeat(at.hash + hashBytes);
