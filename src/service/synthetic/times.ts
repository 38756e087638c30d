import { type Draw, questions } from "./draw.js";

const dayMs = 86_400_000;

/** The latest time in any answer: fixed, so that an item is answered alike on every day. */
export const newest = Date.UTC(2026, 5, 30, 6);

/** RFC 3339 UTC with whole seconds. */
export function wholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

export interface Span {
  readonly first: number;
  readonly last: number;
}

/** When an item was seen: within two years, more often of late. */
export function spanOf(draw: Draw): Span {
  const last = newest - draw.share(questions.lastSeen) ** 1.7 * 540 * dayMs;
  return { first: last - draw.share(questions.firstSeen) ** 2 * 190 * dayMs, last };
}

/** A part of a span, both ends inside it. */
export function partOf({ first, last }: Span, draw: Draw, question: number): Span {
  const start = first + draw.share(question) * (last - first);
  return { first: start, last: start + draw.share(question + 1) * (last - start) };
}
