import { crc32 } from "node:zlib";
import { timestamp } from "../../core/clock.js";
import { parseJson, resultText } from "../../core/json-members.js";
import {
  type Again,
  type Finding,
  firstAnswer,
  type JsonObject,
  largeAnswer,
  type LookupEndpoint,
  lookupEndpoints,
  type LookupRecord,
  type MadeUp,
} from "../../core/finding.js";
import { seededHash } from "../../core/seeded-hash.js";
import { corrupt, type SqliteFile } from "./sqlite-file.js";

export interface ReadBackOptions {
  /** Return the text of each result as the service wrote it. @default false */
  readonly asReceived?: boolean | undefined;
}

/** An answer as it is stored, with its result not read yet. */
export interface StoredAnswer extends Pick<LookupRecord, "finding" | "drift" | "origin"> {
  readonly n: number;
  readonly link: number;
  /** When it was looked up, in milliseconds since 1970; 0 if it wasn't. */
  readonly storedAt: number;
  readonly key: string;
  readonly policy: Again["policy"] | null;
  readonly madeUp: MadeUp | null;
  readonly body: string;
}

type Statement = ReturnType<SqliteFile["database"]["prepare"]>;

/** Reads and writes the table of answers, the same in a run's journal and in a cache. */
export class AnswerTable {
  readonly #insert: Statement;
  readonly #byNumber: Statement;
  readonly #byLink: Statement;
  readonly file: SqliteFile;

  constructor(file: SqliteFile) {
    this.file = file;
    const { database } = file;
    const columns = "link, stored_at, head, body, checksum";
    const read = (condition: string): Statement => {
      const statement = database.prepare(`SELECT n, ${columns} FROM answers WHERE ${condition}`);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#insert = database.prepare(
      `INSERT OR REPLACE INTO answers (${columns}) VALUES (?, ?, ?, ?, ?)`,
    );
    this.#byNumber = read("n = ?");
    this.#byLink = read("link = ?");
  }

  /**
   * @param link leads to the answer: see the schema
   * @returns the answer's number
   */
  add(key: string, link: number, record: LookupRecord): number {
    const storedAt = Date.parse(record.finding.lookedUpAt ?? "") || 0;
    const head = JSON.stringify(headOf(key, record));
    const body = bodyOf(record);
    const sum = checksum(link, storedAt, head, body);
    const { lastInsertRowid } = this.#insert.run(link, storedAt, head, body, sum);
    return Number(lastInsertRowid);
  }

  /** @throws SQLite's error for damage if it isn't what was written */
  byNumber(n: number): StoredAnswer | null {
    return storedOf(this.#byNumber.get(n));
  }

  /** @throws as `byNumber` */
  byLink(link: number): StoredAnswer | null {
    return storedOf(this.#byLink.get(link));
  }
}

/** Checks a row. @throws as `byNumber` */
function storedOf(row: unknown): StoredAnswer | null {
  if (row === undefined) return null;
  const [n, link, storedAt, head, body, sum] = row as readonly unknown[];
  const isSound =
    typeof head === "string" &&
    typeof body === "string" &&
    sum === checksum(Number(link), Number(storedAt), head, body);
  if (!isSound) throw corrupt(`answer ${String(n)} has a wrong checksum`);
  const [key, found, policy, madeUp, drift, origin] = JSON.parse(head) as Head;
  const [status, missing, source, httpStatus, attempts, error] = found;
  const lookedUpAt = storedAt === 0 ? null : timestamp(Number(storedAt));
  return {
    n: Number(n),
    link: Number(link),
    storedAt: Number(storedAt),
    key,
    finding: { status, answers: {}, missing, source, httpStatus, attempts, lookedUpAt, error },
    policy,
    madeUp,
    drift,
    origin: origin ?? undefined,
    body,
  };
}

function checksum(link: number, storedAt: number, head: string, body: string): number {
  return crc32(body, crc32(head, crc32(`${link} ${storedAt}`)));
}

/** Everything of a record but its time and its result. Arrays take half as long as objects with names. */
type Head = readonly [
  key: string,
  finding: readonly [
    status: Finding["status"],
    missing: Finding["missing"],
    source: Finding["source"],
    httpStatus: number | null,
    attempts: number,
    error: Finding["error"],
  ],
  policy: Again["policy"] | null,
  madeUp: MadeUp | null,
  drift: readonly string[],
  origin: LookupRecord["origin"] | null,
];

function headOf(key: string, { finding, again, drift, origin }: LookupRecord): Head {
  const { status, missing, source, httpStatus, attempts, error } = finding;
  const found = [status, missing, source, httpStatus, attempts, error] as const;
  // An answer without data, such as a 400, has a source alone.
  const isMadeUp = source === "sample" || source === "invented";
  const madeUp = isMadeUp ? source : (firstAnswer(finding)?.madeUp ?? null);
  return [key, found, again?.policy ?? null, madeUp, drift, origin ?? null];
}

/** Longest body stored as received, in UTF-16 units; longer ones may be mostly white space. */
const longestBody = 64 * 1024;

/**
 * JSON of an object with the result: a complete answer's body as received, which saves serializing it;
 * otherwise only the result, as the service sent it if its text was kept. Empty without a result.
 */
function bodyOf({ finding, body }: LookupRecord): string {
  if (body !== undefined && body.length <= longestBody) return body;
  const answer = firstAnswer(finding);
  return answer === null ? "" : `{"result":${answer.text ?? JSON.stringify(answer.result)}}`;
}

/** Reads an answer. */
export function storedRecord(
  { key, finding, body, drift, origin, policy, madeUp }: StoredAnswer,
  { asReceived = false }: ReadBackOptions = {},
): LookupRecord {
  const again = policy === null ? null : { policy, afterMs: null };
  if (body === "") return { finding, again, drift, origin };
  const { result } = parseJson(body) as { readonly result: JsonObject };
  const text = asReceived ? resultText(body) : undefined;
  const bytes = body.length > largeAnswer ? body.length : undefined;
  const answer = { result, text, bytes, madeUp: madeUp ?? undefined };
  return { finding: { ...finding, answers: { [endpointOf(key)]: answer } }, again, drift, origin };
}

/** The endpoint with which the key of an answer begins. */
export function endpointOf(key: string): LookupEndpoint {
  return lookupEndpoints.find((endpoint) => key.startsWith(endpoint)) ?? "query";
}

/**
 * A 53-bit hash, the widest integer a JavaScript number holds exactly. Entries store their key,
 * which tells collisions apart.
 */
export function keyHash(key: string): number {
  const high = seededHash(0, key);
  return (high & 0x1fffff) * 2 ** 32 + seededHash(high ^ 0x5bd1e995, key);
}
