import type { Finding, FindingError, FindingStatus, JsonObject } from "../../core/finding.js";

/** What a record says before its finding is read. */
export interface RecordHead {
  /** Sequence number of an earlier record whose key has the same hash; 0 for none. */
  readonly previous: number;
  /** `textHash` of the key. */
  readonly hash: number;
}

/** A finding with the key under which it was put. */
export interface KeyedFinding {
  readonly key: string;
  readonly finding: Finding;
}

/**
 * Bytes of a record: two numbers of 32 bits, little endian (previous, hash), then a JSON array in
 * UTF-8. The array holds the key and the finding's members in the order of `Fields`; names and nulls
 * that every finding has would double its size.
 */
export function encodeRecord(key: string, hash: number, finding: Finding): Buffer {
  const bytes = Buffer.from(headSpace + findingText(key, finding));
  bytes.writeUInt32LE(hash, 4);
  return bytes;
}

/** A finding with its key as the text of a JSON array. */
export function findingText(key: string, finding: Finding): string {
  const { status, query, quickCheck, missing, httpStatus, attempts, lookedUpAt, error } = finding;
  const fields: Fields = [
    key,
    status,
    query,
    quickCheck,
    missing,
    httpStatus,
    attempts,
    lookedUpAt,
    error,
  ];
  return JSON.stringify(fields);
}

/** Sets a record's `previous`, which is known only when the record is written. */
export function linkRecord(bytes: Buffer, previous: number): void {
  bytes.writeUInt32LE(previous, 0);
}

/** Reads a record's head. */
export function readHead(bytes: Buffer): RecordHead {
  return { previous: bytes.readUInt32LE(0), hash: bytes.readUInt32LE(4) };
}

/** Reads a record's key and finding. The finding's source is `live`. */
export function decodeRecord(bytes: Buffer): KeyedFinding {
  return parseFindingText(bytes.toString("utf8", headSpace.length, bytes.length));
}

/** Reads what `findingText` wrote. The finding's source is `live`. */
export function parseFindingText(text: string): KeyedFinding {
  const fields = JSON.parse(text) as Fields;
  const [key, status, query, quickCheck, missing, httpStatus, attempts, lookedUpAt, error] = fields;
  return {
    key,
    finding: {
      status,
      query,
      quickCheck,
      missing,
      source: "live",
      httpStatus,
      attempts,
      lookedUpAt,
      error,
    },
  };
}

type Fields = readonly [
  key: string,
  status: FindingStatus,
  query: JsonObject | null,
  quickCheck: JsonObject | null,
  missing: readonly string[],
  httpStatus: number | null,
  attempts: number,
  lookedUpAt: string | null,
  error: FindingError | null,
];

/** Room for the two numbers of the head: one byte each in UTF-8. */
const headSpace = "\0".repeat(8);
