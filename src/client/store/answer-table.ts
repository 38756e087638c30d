import { crc32 } from "node:zlib";
import { parseJson, readJson, resultText } from "../../core/json-members.js";
import {
  type Again,
  type Answers,
  type FindingError,
  type FindingStatus,
  firstAnswer,
  type JsonObject,
  largeAnswer,
  type LookupRecord,
  type MadeUp,
} from "../../core/finding.js";
import { endpointOf } from "./cache-key.js";
import { corrupt, type Database, type Statement } from "./database.js";

/**
 * The table of answers, the same in a run's journal and in a cache. An answer never changes; a newer
 * one takes its place. `previous` is the number of an earlier answer of the same chain, in a journal.
 */
export const answersSchema = `
  CREATE TABLE answers (
    n INTEGER PRIMARY KEY,
    hash INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    stored_at INTEGER NOT NULL,
    head TEXT NOT NULL,
    body ANY NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;`;

export interface ReadBackOptions {
  /** Return the text of each result as the service wrote it. @default false */
  readonly asReceived?: boolean | undefined;
}

/** An answer as it is stored, not read yet. */
export interface StoredAnswer {
  readonly n: number;
  readonly previous: number;
  /** Milliseconds since 1970. */
  readonly storedAt: number;
  readonly key: string;
  readonly status: FindingStatus;
  readonly head: Head;
  readonly body: Uint8Array | string;
}

/** Where an answer belongs: the hash of its key, and the number of an earlier answer of its chain. */
interface Place extends Pick<StoredAnswer, "previous" | "storedAt"> {
  readonly hash: number;
}

/** Reads and writes the table of answers. Each has a checksum, which SQLite's pages don't. */
export class AnswerTable {
  readonly #insert: Statement;
  readonly #byNumber: Statement;
  readonly #byHash: Statement;

  constructor(database: Database) {
    const columns = "previous, stored_at, head, body, checksum";
    const read = (condition: string): Statement => {
      const statement = database.prepare(`SELECT n, ${columns} FROM answers WHERE ${condition}`);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#insert = database.prepare(
      `INSERT OR REPLACE INTO answers (hash, ${columns}) VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#byNumber = read("n = ?");
    this.#byHash = read("hash = ?");
  }

  /** Returns the answer's number. */
  add(key: string, record: LookupRecord, { hash, previous, storedAt }: Place): number {
    const head = headOf(key, record);
    const body = bodyOf(record);
    const sum = checksum(storedAt, head, body);
    const { lastInsertRowid } = this.#insert.run(hash, previous, storedAt, head, body, sum);
    return Number(lastInsertRowid);
  }

  /** @throws SQLite's error for damage if it isn't what was written */
  byNumber(n: number): StoredAnswer | null {
    return storedOf(this.#byNumber.get(n));
  }

  /** @throws as `byNumber` */
  byHash(hash: number): StoredAnswer | null {
    return storedOf(this.#byHash.get(hash));
  }
}

/** Checks a row. @throws as `byNumber` */
function storedOf(row: unknown): StoredAnswer | null {
  if (row === undefined) return null;
  const [n, previous, storedAt, text, body, sum] = row as readonly unknown[];
  const isSound =
    typeof text === "string" &&
    (typeof body === "string" || body instanceof Uint8Array) &&
    sum === checksum(Number(storedAt), text, body);
  if (!isSound) throw corrupt(`answer ${String(n)} has a wrong checksum`);
  const head = JSON.parse(text) as Head;
  return {
    n: Number(n),
    previous: Number(previous),
    storedAt: Number(storedAt),
    key: head[0],
    status: head[1],
    head,
    body,
  };
}

function checksum(storedAt: number, head: string, body: Uint8Array | string): number {
  return crc32(body, crc32(`${storedAt} ${head}`));
}

/** Everything but the results. */
type Head = readonly [
  key: string,
  status: FindingStatus,
  missing: readonly string[],
  httpStatus: number | null,
  attempts: number,
  lookedUpAt: string | null,
  error: FindingError | null,
  again: Again["policy"] | null,
  madeUp: MadeUp | null,
  /** Row that asked first, and the HTTP status or fault code of each request; absent if no row did. */
  origin?: readonly [row: number | null, outcomes: readonly string[], drift: readonly string[]],
];

function headOf(key: string, { finding, again, origin, drift }: LookupRecord): string {
  const { status, missing, httpStatus, attempts, lookedUpAt, error, source } = finding;
  // An answer without data, such as a 400, has a source alone.
  const isMadeUp = source === "sample" || source === "invented";
  const madeUp = isMadeUp ? source : (firstAnswer(finding)?.madeUp ?? null);
  const policy = again?.policy ?? null;
  const counts = [httpStatus, attempts, lookedUpAt, error, policy, madeUp] as const;
  const common = [key, status, missing, ...counts] as const;
  const head: Head =
    origin === undefined ? common : [...common, [origin.row, origin.outcomes, drift]];
  return JSON.stringify(head);
}

/** Longest body stored as received, in bytes; longer ones may be mostly white space. */
const maxBodyBytes = 64 * 1024;

/**
 * The result: a complete answer's body as received, which saves serializing it; otherwise the JSON of the
 * result, as the service sent it if its text was kept. Empty without a result.
 */
function bodyOf({ finding, body }: LookupRecord): Uint8Array | string {
  if (body !== undefined && body.length <= maxBodyBytes) return body;
  const answer = firstAnswer(finding);
  return answer === null ? "" : (answer.text ?? JSON.stringify(answer.result));
}

/** What is known of an answer without its results. */
export function outlineOf({ head }: Pick<StoredAnswer, "head">) {
  const [, , , , attempts, , , policy, madeUp, origin] = head;
  const [row = null, outcomes = [], drift = []] = origin ?? [];
  return {
    finding: { attempts },
    again: policy === null ? null : { policy, afterMs: null },
    madeUp: madeUp ?? undefined,
    drift,
    origin: origin && { row, outcomes },
  };
}

/** Reads an answer. @throws as `byNumber` */
export function storedRecord(
  stored: Pick<StoredAnswer, "key" | "head" | "body">,
  options: ReadBackOptions = {},
): LookupRecord {
  const { again, madeUp, drift, origin } = outlineOf(stored);
  const [, status, missing, httpStatus, attempts, lookedUpAt, error] = stored.head;
  const answers = stored.body.length === 0 ? {} : answersIn(stored, options, madeUp);
  const source = madeUp ?? "live";
  const counts = { httpStatus, attempts, lookedUpAt, error };
  return { finding: { status, answers, missing, source, ...counts }, again, drift, origin };
}

function answersIn(
  { key, body }: Pick<StoredAnswer, "key" | "body">,
  { asReceived = false }: ReadBackOptions,
  madeUp: MadeUp | undefined,
): Answers {
  const bytes = body.length > largeAnswer ? body.length : undefined;
  const answerOf = (result: unknown, text: string | undefined): Answers => ({
    [endpointOf(key)]: { result: result as JsonObject, text, bytes, madeUp },
  });
  if (typeof body === "string") return answerOf(parseJson(body), asReceived ? body : undefined);
  const reading = readJson(Buffer.from(body.buffer, body.byteOffset, body.length));
  if (reading.fault !== null) throw corrupt(`the answer to ${key} ${reading.fault}`);
  const { result } = reading.value as { readonly result: unknown };
  return answerOf(result, asReceived ? resultText(reading.text) : undefined);
}
