import { crc32 } from "node:zlib";
import type { Clock } from "../../../core/clock.js";
import { type Finding, firstAnswer } from "../../../core/finding.js";
import {
  findingText,
  type Keyed,
  madeUpField,
  parseFindingText,
  type ReadBackOptions,
} from "../finding-record.js";

/** Kinds of cached answers, which differ in lifetime. */
export const answerKinds = ["full", "partial", "invalid", "bogon"] as const;

type AnswerKind = (typeof answerKinds)[number];

/** The part of an entry that is read before its finding. */
interface EntryHead {
  readonly kind: AnswerKind;
  /** When it was stored, in milliseconds since 1970. */
  readonly storedAt: number;
}

/** Lifetime of each kind, as a multiple of the TTL. */
const lifetimes: Readonly<Record<AnswerKind, number>> = {
  full: 1,
  // Partial answers expire after TTL/24: missing data is usually back soon.
  partial: 1 / 24,
  invalid: 1,
  // Reserved ranges change once in years.
  bogon: 30,
};

/** Where the parts of an entry begin and end. */
export const entryParts = {
  time: { from: 8, to: 19 },
  kind: { from: 19, to: 20 },
} as const;

/** How long an answer is fresh, in milliseconds. */
export function lifetimeMs(kind: AnswerKind, ttlMs: number): number {
  return ttlMs * lifetimes[kind];
}

/** The kind of an answer; null for findings that are never cached, because the lookup failed. */
export function answerKind(finding: Finding): AnswerKind | null {
  const { status } = finding;
  if (status === "partial" || status === "invalid") return status;
  if (status !== "complete") return null;
  const result = firstAnswer(finding)?.result;
  return result?.["type"] === "IP_BOGON" || result?.["bogon"] === true ? "bogon" : "full";
}

/**
 * Whether an entry may be used. A clock that is or was wrong can store entries with a future time;
 * they are accepted up to one lifetime ahead.
 * @param now milliseconds since 1970
 * @param ttlMs lifetime of full answers in milliseconds
 */
export function isFresh({ kind, storedAt }: EntryHead, now: number, ttlMs: number): boolean {
  return Math.abs(now - storedAt) < lifetimeMs(kind, ttlMs);
}

/**
 * Serializes an entry: CRC-32 of the rest (8 hexadecimal digits), time of storage (11 hexadecimal
 * digits, milliseconds since 1970), first letter of its kind, key and finding as JSON, with a word at
 * the end of one that is made up.
 */
export function encodeEntry(key: string, finding: Finding, { kind, storedAt }: EntryHead): string {
  const text = findingText(key, finding);
  const [madeUp] = madeUpField(finding);
  const whole = madeUp === undefined ? text : `${text.slice(0, -1)},"${madeUp}"]`;
  const checked = entryTime(storedAt) + kind.charAt(0) + whole;
  return checksum(checked) + checked;
}

/** A time as entries have it: later ones sort later. */
export function entryTime(ms: number): string {
  return Math.max(0, Math.floor(ms))
    .toString(16)
    .padStart(entryParts.time.to - entryParts.time.from, "0");
}

/** Reads an entry's head; null if the entry is damaged, of which its type is part. */
export function readEntryHead(entry: unknown): EntryHead | null {
  const { time } = entryParts;
  if (typeof entry !== "string" || entry.slice(0, time.from) !== checksum(entry.slice(time.from)))
    return null;
  const letter = entry.charAt(time.to);
  const kind = answerKinds.find((each) => each.startsWith(letter));
  if (kind === undefined || letter === "") return null;
  return { kind, storedAt: Number.parseInt(entry.slice(time.from, time.to), 16) };
}

/** Decodes an intact entry. */
function decodeEntry(entry: string, options?: ReadBackOptions): Keyed<Finding> {
  return parseFindingText(entry.slice(entryParts.kind.to), options);
}

/** Reads the entries of one cache; the first damaged one is a warning. */
export class EntryReader {
  readonly #name: string;
  readonly #options: EntryReaderOptions;
  #hasWarned = false;

  /** @param name of the cache, in the warning */
  constructor(name: string, options: EntryReaderOptions) {
    this.#name = name;
    this.#options = options;
  }

  /** The finding in an entry if it is fresh and stored under this key. */
  fresh(key: string, entry: string | null): Finding | null {
    const { clock, ttlMs, asReceived, onWarning } = this.#options;
    const head = readEntryHead(entry);
    if (entry === null || head === null) {
      if (!this.#hasWarned) {
        onWarning(
          `entries of the cache ${this.#name} are damaged; their items are looked up again`,
        );
      }
      this.#hasWarned = true;
      return null;
    }
    if (!isFresh(head, clock.now(), ttlMs)) return null;
    const { key: found, value } = decodeEntry(entry, { asReceived });
    return found === key ? value : null;
  }
}

interface EntryReaderOptions extends ReadBackOptions {
  readonly ttlMs: number;
  readonly clock: Pick<Clock, "now">;
  readonly onWarning: (message: string) => void;
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}
