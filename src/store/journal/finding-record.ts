import { parseJson, readJson } from "../../core/read-json.js";
import { resultText } from "../../core/result-text.js";
import {
  type Again,
  type Finding,
  type FindingError,
  type FindingStatus,
  type JsonObject,
  largeAnswer,
} from "../../core/finding.js";
import { elementTexts } from "../../core/json-members.js";

/** What a record says before its finding is read. */
export interface RecordHead {
  /** Place of the newest earlier record whose key has the same hash; 0 for none. */
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
 * What a record is made of. Its bytes are two numbers of 32 bits, little endian (previous, hash), then
 * UTF-8 in one of two forms. Where the finding has its answer's body, a line with a JSON array (key,
 * endpoint, attempts, time, origin) and the body as it came; else a JSON array of the key and the finding's
 * members in the order of `Fields`: names and nulls that every finding has would double its size. Both
 * keep the results as the service wrote them, the second where the run has their text.
 *
 * Keeping the body saves 3.5 µs a finding over writing its data as JSON again. A long one is not kept:
 * it may be white space for the most part, and megabytes a row fill memory and disk.
 */
export interface RecordParts {
  readonly text: string;
  readonly body: Buffer | null;
}

export function recordParts(key: string, finding: Finding): RecordParts {
  const { body } = finding;
  if (body === undefined || body.length > longestBody) {
    return { text: findingText(key, finding), body: null };
  }
  const line: BodyLine = [
    key,
    finding.query !== null,
    finding.attempts,
    finding.lookedUpAt,
    originField(finding),
  ];
  return { text: `${JSON.stringify(line)}\n`, body };
}

/** Most bytes that the record of these parts has. */
export function mostRecordBytes({ text, body }: RecordParts): number {
  // A UTF-16 code unit has three bytes in UTF-8 at most.
  return headBytes + 3 * text.length + (body?.length ?? 0);
}

/** Writes a record into a buffer that has room for it; returns where it ends. */
export function writeRecord(to: Buffer, at: number, head: RecordHead, parts: RecordParts): number {
  to.writeUInt32LE(head.previous, at);
  to.writeUInt32LE(head.hash, at + 4);
  const end = at + headBytes + to.write(parts.text, at + headBytes);
  if (parts.body === null) return end;
  to.set(parts.body, end);
  return end + parts.body.length;
}

/**
 * A finding with its key as the text of a JSON array, on one line. Results of which the text was kept
 * stand in it as the service wrote them.
 */
export function findingText(key: string, finding: Finding): string {
  const { status, query, quickCheck, missing, httpStatus, attempts, lookedUpAt, error } = finding;
  const queryText = finding.queryText ?? JSON.stringify(query);
  const quickCheckText = finding.quickCheckText ?? JSON.stringify(quickCheck);
  const before = JSON.stringify([key, status]).slice(0, -1);
  const rest: unknown[] = [missing, httpStatus, attempts, lookedUpAt, error];
  const origin = originField(finding);
  if (origin !== null) rest.push(origin);
  if (origin !== null && finding.again !== undefined) rest.push(finding.again.policy);
  const after = JSON.stringify(rest).slice(1);
  return `${before},${queryText},${quickCheckText},${after}`;
}

/** Reads a record's head. */
export function readHead(bytes: Buffer): RecordHead {
  return { previous: bytes.readUInt32LE(0), hash: bytes.readUInt32LE(4) };
}

/** How a finding is read back. */
export interface ReadOptions {
  /** Whether the results come with their text, as the service wrote it. @default false */
  readonly asReceived?: boolean | undefined;
}

/** Reads a record's key and finding. The finding's source is `live`. */
export function decodeRecord(
  bytes: Buffer,
  { asReceived = false }: ReadOptions = {},
): KeyedFinding {
  const end = bytes.indexOf(lineFeed, headBytes);
  // JSON of one line, as `findingText` writes it, has no line feed.
  if (end < 0) {
    return parseFindingText(bytes.toString("utf8", headBytes, bytes.length), { asReceived });
  }
  const line = JSON.parse(bytes.toString("utf8", headBytes, end)) as BodyLine;
  const [key, isQuery, attempts, lookedUpAt, origin] = line;
  const body = bytes.subarray(end + 1);
  const reading = readJson(body);
  if (reading.fault !== null) throw new TypeError(`the body of a record ${reading.fault}`);
  const { result } = reading.value as { readonly result: JsonObject };
  const text = asReceived ? resultText(reading.text) : undefined;
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
      queryText: isQuery ? text : undefined,
      quickCheckText: isQuery ? undefined : text,
      bytes: body.length > largeAnswer ? body.length : undefined,
      ...originMembers(origin),
    },
  };
}

/** Reads what `findingText` wrote. The finding's source is `live`. */
export function parseFindingText(
  text: string,
  { asReceived = false }: ReadOptions = {},
): KeyedFinding {
  const fields = parseJson(text) as readonly [
    ...Fields,
    origin?: OriginField,
    again?: Again["policy"],
  ];
  const [key, status, query, quickCheck, missing, httpStatus, attempts, lookedUpAt, error] = fields;
  const [origin, policy] = fields.slice(9) as [OriginField?, Again["policy"]?];
  const texts = asReceived ? elementTexts(text) : [];
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
      queryText: query === null ? undefined : texts[2],
      quickCheckText: quickCheck === null ? undefined : texts[3],
      bytes: text.length > largeAnswer ? text.length : undefined,
      ...originMembers(origin ?? null),
      ...(policy === undefined ? {} : { again: { policy, afterMs: null } }),
    },
  };
}

function originField({ origin, drift = [] }: Finding): OriginField | null {
  return origin === undefined ? null : [origin.row, origin.outcomes.join(" "), ...drift];
}

function originMembers(field: OriginField | null): Pick<Finding, "origin" | "drift"> {
  if (field === null) return {};
  const [row, outcomes, ...drift] = field;
  const origin = { row, outcomes: outcomes === "" ? [] : outcomes.split(" ") };
  return drift.length === 0 ? { origin } : { origin, drift };
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
  origin: OriginField | null,
];

/** Row that asked first, HTTP statuses or fault codes of its requests, values not in the interface. */
type OriginField = readonly [row: number | null, outcomes: string, ...drift: string[]];

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

/** Two numbers of 32 bits. */
const headBytes = 8;

/** A record has no fewer bytes. */
export const shortestRecord = headBytes;
