import type { Verdict } from "../core/finding.js";

/** Numbers that depend on the seed, a text and the question alone. */
export class Draw {
  readonly #seed: number;
  readonly #text: string;

  constructor(seed: number, text: string) {
    this.#seed = seed;
    this.#text = text;
  }

  /** A number from 0 up to, not including, 1. */
  share(question: number): number {
    return seededHash(this.#seed, this.#text, question) / 2 ** 32;
  }

  /** A whole number from 0 up to, not including, `end`. */
  below(end: number, question: number): number {
    return Math.floor(this.share(question) * end);
  }

  /** One of the choices; `skew` above 1 prefers those at the beginning. */
  pick<T>(choices: readonly T[], question: number, skew = 1): T {
    return choices[Math.floor(this.share(question) ** skew * choices.length)]!;
  }
}

/** Numbers of the questions, each of which draws independently. */
export const questions = {
  verdict: 1,
  partial: 2,
  missing: 3,
  network: 4,
  contact: 5,
  verified: 6,
  name: 7,
  tag: 8,
  secondTag: 9,
  lastSeen: 10,
  firstSeen: 11,
  blocklist: 12,
  known: 13,
  intent: 14,
  honeypot: 15,
  spamtrap: 16,
  // The last one: questions about single observations follow it.
  observation: 100,
} as const;

/**
 * Shares of items that get each answer, bogons aside. The rest has the verdict `none`. A partial
 * answer stays partial however often it is asked for; the quick check still has the intent.
 */
export const syntheticShares = {
  malicious: 0.2,
  suspicious: 0.1,
  listed: 0.05,
  partial: 0.05,
} as const;

export function drawnVerdict(draw: Draw): Verdict {
  const share = draw.share(questions.verdict);
  const { malicious, suspicious, listed } = syntheticShares;
  if (share < malicious) return "malicious";
  if (share < malicious + suspicious) return "suspicious";
  return share < malicious + suspicious + listed ? "listed" : "none";
}

/** The latest time in any answer. Fixed, so that answers are the same every day. */
export const newest = Date.UTC(2026, 5, 30, 6);

/** RFC 3339 UTC with whole seconds. */
export function wholeSeconds(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/**
 * Hashes a seed, a text and a number to 32 bits, which decide on faults: the same request gets the
 * same fault in whatever order requests arrive. Uses FNV-1a over the text, then the finaliser of
 * MurmurHash3, without which similar texts would yield similar numbers.
 */
export function seededHash(seed: number, text: string, number: number): number {
  let hash = (0x811c9dc5 ^ seed) >>> 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash ^= Math.imul(number, 0x9e3779b1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
