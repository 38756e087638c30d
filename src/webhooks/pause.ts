/** How long to wait between the attempts of one call. */
export interface PauseOptions {
  /** Attempts made so far, at least 1. */
  readonly attempts: number;
  /** `Retry-After` of the answer as received, or null. */
  readonly retryAfter: string | null;
  /** Wall-clock time, milliseconds since 1970. */
  readonly now: number;
  /** A number from 0 to below 1. */
  readonly random: () => number;
}

/** Longest pause that a `Retry-After` can ask for, in milliseconds; beyond it the call is given up. */
export const longestPauseMs = 300_000;

/**
 * The pause before the next attempt in milliseconds: exponential backoff with full jitter, from 0 to
 * 0.5 s × 2^(attempts − 1), 30 s at most; longer where `Retry-After` (RFC 9110, section 10.2.3) asks
 * for it. May exceed {@link longestPauseMs}: then the server wants to be left alone for now.
 */
export function pauseMs({ attempts, retryAfter, now, random }: PauseOptions): number {
  const backoff = random() * Math.min(30_000, 500 * 2 ** (attempts - 1));
  return Math.max(backoff, retryAfterMs(retryAfter, now));
}

function retryAfterMs(header: string | null, now: number): number {
  const text = header?.trim() ?? "";
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  // An HTTP-date names its month; Date.parse alone would read "-5" or "12.5" as a year.
  const date = /[A-Za-z]{3}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - now);
}
