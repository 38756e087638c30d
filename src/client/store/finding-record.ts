import {
  elementTexts,
  memberTexts,
  parseJson,
  readJson,
  resultText,
} from "../../core/json-members.js";
import {
  type Again,
  type LookupRecord,
  type MadeUp,
  type Answers,
  type Finding,
  type FindingError,
  type FindingStatus,
  firstAnswer,
  type JsonObject,
  largeAnswer,
  type LookupAnswer,
  type LookupEndpoint,
  lookupEndpoints,
} from "../../core/finding.js";

/** The part of a record that is read before its finding. */
export interface RecordHead {
  /** Offset of the previous record in the same hash chain, in `offsetUnit`s; 0 for none. */
  readonly previous: number;
  /** `textHash` of the key. */
  readonly hash: number;
}

export interface Keyed<Value> {
  readonly key: string;
  readonly value: Value;
}

/**
 * The variable part of a record. A record is two little-endian 32-bit numbers (`previous`, `hash`)
 * followed by UTF-8: for a full answer with its body, a line with a JSON array (`BodyLine`) and the
 * body as received, which saves 3.5 µs per finding; otherwise one JSON array (`Fields`, then
 * `Rest`). Bodies over 64 KiB are stored as `Fields`, because they may be mostly white space.
 */
export interface RecordParts {
  readonly text: string;
  readonly body: Buffer | null;
}

export function recordParts(key: string, record: LookupRecord): RecordParts {
  const { finding, body } = record;
  const madeUp = madeUpField(finding);
  if (body === undefined || body.length > maxBodyBytes) {
    const rest = JSON.stringify([originField(record), record.again?.policy ?? null, ...madeUp]);
    return { text: `${findingText(key, finding).slice(0, -1)},${rest.slice(1)}`, body: null };
  }
  const line: BodyLine = [
    key,
    lookupEndpoints.findIndex((endpoint) => finding.answers[endpoint] !== undefined),
    finding.attempts,
    finding.lookedUpAt,
    originField(record),
    ...madeUp,
  ];
  return { text: `${JSON.stringify(line)}\n`, body };
}

/** Upper bound of the record's length in bytes. */
export function maxRecordBytes({ text, body }: RecordParts): number {
  // One UTF-16 code unit takes at most three bytes in UTF-8.
  return headBytes + 3 * text.length + (body?.length ?? 0);
}

/** Writes a record into a buffer with enough room. Returns the position after it. */
export function writeRecord(to: Buffer, at: number, head: RecordHead, parts: RecordParts): number {
  to.writeUInt32LE(head.previous, at);
  to.writeUInt32LE(head.hash, at + 4);
  const end = at + headBytes + to.write(parts.text, at + headBytes);
  if (parts.body === null) return end;
  to.set(parts.body, end);
  return end + parts.body.length;
}

/**
 * Serializes a key and its finding as a one-line JSON array. Results whose text was kept are
 * written exactly as the service sent them.
 */
export function findingText(key: string, finding: Finding): string {
  const { status, answers, missing, httpStatus, attempts, lookedUpAt, error } = finding;
  const rest = JSON.stringify([missing, httpStatus, attempts, lookedUpAt, error]);
  return `${JSON.stringify([key, status]).slice(0, -1)},${answersText(answers)},${rest.slice(1)}`;
}

function answersText(answers: Answers): string {
  let text = "";
  for (const endpoint of lookupEndpoints) {
    const answer = answers[endpoint];
    if (answer === undefined) continue;
    if (text !== "") text += ",";
    text += `"${endpoint}":${answer.text ?? JSON.stringify(answer.result)}`;
  }
  return `{${text}}`;
}

export function readHead(bytes: Buffer): RecordHead {
  return { previous: bytes.readUInt32LE(0), hash: bytes.readUInt32LE(4) };
}

export interface ReadBackOptions {
  /** Return the text of each result as the service wrote it. @default false */
  readonly asReceived?: boolean | undefined;
}

/** Decodes a record. */
export function decodeRecord(
  bytes: Buffer,
  { asReceived = false }: ReadBackOptions = {},
): Keyed<LookupRecord> {
  const end = bytes.indexOf(lineFeed, headBytes);
  // `findingText` writes one line of JSON, so only records with a body contain a line feed.
  if (end < 0) return parseRecord(bytes.toString("utf8", headBytes, bytes.length), asReceived);
  const line = JSON.parse(bytes.toString("utf8", headBytes, end)) as BodyLine;
  const [key, endpoint, attempts, lookedUpAt, origin, madeUp] = line;
  const body = bytes.subarray(end + 1);
  const reading = readJson(body);
  if (reading.fault !== null) throw new TypeError(`journal record: its body ${reading.fault}`);
  const { result } = reading.value as { readonly result: JsonObject };
  const answer: LookupAnswer = {
    result,
    text: asReceived ? resultText(reading.text) : undefined,
    bytes: body.length > largeAnswer ? body.length : undefined,
    madeUp,
  };
  const finding: Finding = {
    status: "complete",
    answers: { [lookupEndpoints[endpoint]!]: answer },
    missing: [],
    source: madeUp ?? "live",
    httpStatus: 200,
    attempts,
    lookedUpAt,
    error: null,
  };
  return { key, value: { finding, again: null, ...originMembers(origin) } };
}

function parseRecord(text: string, asReceived: boolean): Keyed<LookupRecord> {
  const fields = parseJson(text) as readonly [...Fields, ...Rest];
  const [origin, policy, madeUp] = fields.slice(fieldCount) as unknown as Rest;
  const again = policy === null ? null : { policy, afterMs: null };
  const own = fields.slice(0, fieldCount) as unknown as Fields;
  const finding = findingOf(own, text, asReceived, madeUp);
  return { key: fields[0], value: { finding, again, ...originMembers(origin) } };
}

/** Parses the output of `findingText`, with a word after it if it is made up. */
export function parseFindingText(
  text: string,
  { asReceived = false }: ReadBackOptions = {},
): Keyed<Finding> {
  const fields = parseJson(text) as readonly [...Fields, madeUp?: MadeUp];
  const own = fields.slice(0, fieldCount) as unknown as Fields;
  return { key: fields[0], value: findingOf(own, text, asReceived, fields[fieldCount]) };
}

/** @param text the JSON from which `fields` were parsed */
function findingOf(fields: Fields, text: string, asReceived: boolean, madeUp?: MadeUp): Finding {
  const [, status, results, missing, httpStatus, attempts, lookedUpAt, error] = fields;
  const texts = asReceived ? memberTexts(elementTexts(text)[2] ?? "{}") : null;
  const bytes = text.length > largeAnswer ? text.length : undefined;
  const answers: Partial<Record<LookupEndpoint, LookupAnswer>> = {};
  for (const endpoint of lookupEndpoints) {
    const result = results[endpoint];
    if (result === undefined) continue;
    answers[endpoint] = { result, text: texts?.get(endpoint), bytes, madeUp };
  }
  return {
    status,
    answers,
    missing,
    source: madeUp ?? "live",
    httpStatus,
    attempts,
    lookedUpAt,
    error,
  };
}

/** The last field of a finding that is made up. */
export function madeUpField(finding: Finding): readonly [MadeUp?] {
  const { source } = finding;
  // An answer without data, such as a 400, has a source alone.
  const madeUp =
    source === "sample" || source === "invented" ? source : firstAnswer(finding)?.madeUp;
  return madeUp === undefined ? [] : [madeUp];
}

function originField({ origin, drift }: LookupRecord): OriginField | null {
  return origin === undefined ? null : [origin.row, origin.outcomes.join(" "), ...drift];
}

function originMembers(field: OriginField | null): Pick<LookupRecord, "origin" | "drift"> {
  if (field === null) return { drift: [] };
  const [row, outcomes, ...drift] = field;
  return { drift, origin: { row, outcomes: outcomes === "" ? [] : outcomes.split(" ") } };
}

const lineFeed = 0x0a;

/** Longest body stored as received, in bytes. A typical full answer is 2 KB. */
const maxBodyBytes = 64 * 1024;

/** The JSON line before a body. */
type BodyLine = readonly [
  key: string,
  /** Index in `lookupEndpoints`. */
  endpoint: number,
  attempts: number,
  lookedUpAt: string | null,
  origin: OriginField | null,
  madeUp?: MadeUp,
];

/**
 * Number of the first row that asked, the HTTP status or fault code of each request, and response
 * values unknown to this version.
 */
type OriginField = readonly [row: number | null, outcomes: string, ...drift: string[]];

type Fields = readonly [
  key: string,
  status: FindingStatus,
  results: { readonly [endpoint in LookupEndpoint]?: JsonObject },
  missing: readonly string[],
  httpStatus: number | null,
  attempts: number,
  lookedUpAt: string | null,
  error: FindingError | null,
];

const fieldCount = 8;

/** Journal-only fields after the finding. */
type Rest = readonly [origin: OriginField | null, again: Again["policy"] | null, madeUp?: MadeUp];

/** Two 32-bit numbers. */
const headBytes = 8;

/** Minimum length of a record in bytes. */
export const minRecordBytes = headBytes;
