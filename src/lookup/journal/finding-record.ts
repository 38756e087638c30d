import { readJson } from "../../api/read-json.js";
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
 * Bytes of a record: two numbers of 32 bits, little endian (previous, hash), then UTF-8 in one of two
 * forms. Where the finding has its answer's body, a line with a JSON array (key, endpoint, attempts,
 * time) and the body as it came; else a JSON array of the key and the finding's members in the order
 * of `Fields`: names and nulls that every finding has would double its size.
 *
 * Keeping the body saves 3.5 µs a finding over writing its data as JSON again. A long one is not kept:
 * it may be white space for the most part, and megabytes a row fill memory and disk.
 */
export function encodeRecord(key: string, hash: number, finding: Finding): Buffer {
  const bytes =
    finding.body === undefined || finding.body.length > longestBody
      ? Buffer.from(headSpace + findingText(key, finding))
      : withBody(key, finding, finding.body);
  bytes.writeUInt32LE(hash, 4);
  return bytes;
}

function withBody(key: string, { query, attempts, lookedUpAt }: Finding, body: Buffer): Buffer {
  const line: BodyLine = [key, query !== null, attempts, lookedUpAt];
  const text = `${headSpace}${JSON.stringify(line)}\n`;
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(text) + body.length);
  bytes.set(body, bytes.write(text));
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
  const end = bytes.indexOf(lineFeed, headSpace.length);
  // JSON of one line, as `findingText` writes it, has no line feed.
  if (end < 0) return parseFindingText(bytes.toString("utf8", headSpace.length, bytes.length));
  const line = JSON.parse(bytes.toString("utf8", headSpace.length, end)) as BodyLine;
  const [key, isQuery, attempts, lookedUpAt] = line;
  const { value } = readJson(bytes.subarray(end + 1));
  const { result } = value as { readonly result: JsonObject };
  return {
    key,
    finding: {
      status: "complete",
      query: isQuery ? result : null,
      quickCheck: isQuery ? null : result,
      missing: [],
      source: "live",
      httpStatus: 200,
      attempts,
      lookedUpAt,
      error: null,
    },
  };
}

/** Reads a record's key alone. */
export function keyOfRecord(bytes: Buffer): string {
  const end = bytes.indexOf(lineFeed, headSpace.length);
  const text = bytes.toString("utf8", headSpace.length, end < 0 ? bytes.length : end);
  return (JSON.parse(text) as readonly [string])[0];
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

const lineFeed = 0x0a;

/** Longest body that is kept as it came, in bytes; a full answer has 2 KB. */
const longestBody = 64 * 1024;

/** What a record with a body has before it. */
type BodyLine = readonly [
  key: string,
  isQuery: boolean,
  attempts: number,
  lookedUpAt: string | null,
];

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
