import { type Finding, firstAnswer } from "../../core/finding.js";

/** What an answer is, as far as it matters how long it may be used again. */
export const answerKinds = ["full", "partial", "invalid", "bogon"] as const;

export type AnswerKind = (typeof answerKinds)[number];

/** How long each kind of answer is used, as a share of the time that a full one is. */
const shares: Readonly<Record<AnswerKind, number>> = {
  full: 1,
  // What was unavailable is back soon, as a rule: an hour where full answers are used for a day.
  partial: 1 / 24,
  invalid: 1,
  // Reserved ranges change once in years.
  bogon: 30,
};

/** The kind of an answer; null for what is never used again: there was none. */
export function answerKind(finding: Finding): AnswerKind | null {
  const { status } = finding;
  if (status === "partial" || status === "invalid") return status;
  if (status !== "complete") return null;
  const result = firstAnswer(finding)?.result;
  return result?.["type"] === "IP_BOGON" || result?.["bogon"] === true ? "bogon" : "full";
}

/**
 * Whether an answer may be used at a moment. One that was kept later than now was kept by a clock
 * that went wrong, then or since; it may be used when it is not further ahead than it may be old.
 *
 * @param keptAt when it was kept, `now` the moment: milliseconds since 1970
 * @param ttlMs how long full answers are used, in milliseconds
 */
export function isFresh(kind: AnswerKind, keptAt: number, now: number, ttlMs: number): boolean {
  return Math.abs(now - keptAt) < ttlMs * shares[kind];
}
