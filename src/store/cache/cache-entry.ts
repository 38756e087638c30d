import { crc32 } from "node:zlib";
import { type Finding, firstAnswer } from "../../core/finding.js";
import {
  findingText,
  type Keyed,
  parseFindingText,
  type ReadOptions,
} from "../journal/finding-record.js";

/** What an answer is, as far as that decides how long it may be used. */
export const answerKinds = ["full", "partial", "invalid", "bogon"] as const;

export type AnswerKind = (typeof answerKinds)[number];

/** What an entry says before its finding is read. */
export interface EntryHead {
  readonly kind: AnswerKind;
  /** When it was kept, in milliseconds since 1970. */
  readonly keptAt: number;
}

/** How long each kind of answer is used, as a share of the time that a full one is. */
const shares: Readonly<Record<AnswerKind, number>> = {
  full: 1,
  // What was unavailable is usually back soon: an hour where full answers are used for a day.
  partial: 1 / 24,
  invalid: 1,
  // Reserved ranges change once in years.
  bogon: 30,
};

/** The kind of an answer; null for one that is never used again, because there was none. */
export function answerKind(finding: Finding): AnswerKind | null {
  const { status } = finding;
  if (status === "partial" || status === "invalid") return status;
  if (status !== "complete") return null;
  const result = firstAnswer(finding)?.result;
  return result?.["type"] === "IP_BOGON" || result?.["bogon"] === true ? "bogon" : "full";
}

/**
 * Whether an answer may be used now. One from the future was kept by a clock that was wrong, then or
 * since; it is used as long as it is no further ahead than it may be old.
 *
 * @param now milliseconds since 1970
 * @param ttlMs how long full answers are used, in milliseconds
 */
export function isFresh({ kind, keptAt }: EntryHead, now: number, ttlMs: number): boolean {
  return Math.abs(now - keptAt) < ttlMs * shares[kind];
}

/**
 * The text of an entry: CRC-32 of what follows (8 hexadecimal digits), when it was kept (11 digits,
 * milliseconds since 1970), the first letter of its kind, key and finding as JSON.
 */
export function encodeEntry(key: string, finding: Finding, { kind, keptAt }: EntryHead): string {
  const time = Math.max(0, Math.floor(keptAt)).toString(16).padStart(11, "0");
  const checked = time + kind.charAt(0) + findingText(key, finding);
  return checksum(checked) + checked;
}

/** An entry's head; null where the entry is not what was written. */
export function readEntryHead(entry: string): EntryHead | null {
  if (entry.slice(0, at.time) !== checksum(entry.slice(at.time))) return null;
  const letter = entry.charAt(at.kind);
  const kind = answerKinds.find((each) => each.startsWith(letter));
  if (kind === undefined || letter === "") return null;
  return { kind, keptAt: Number.parseInt(entry.slice(at.time, at.kind), 16) };
}

/** Reads an intact entry's key and finding. The finding's source is `live`. */
export function decodeEntry(entry: string, options?: ReadOptions): Keyed<Finding> {
  return parseFindingText(entry.slice(at.finding), options);
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, "0");
}

/** Where the parts of an entry begin. */
const at = { time: 8, kind: 19, finding: 20 } as const;
