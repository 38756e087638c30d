import type { Clock } from "../../core/clock.js";
import type { ResponseHeaders } from "../types.js";

/** Longest wait that a service is granted, in milliseconds: one that asks for more is asked again after an hour. */
export const longestWaitMs = 3_600_000;

/**
 * How long the service asks to wait, in milliseconds from now; null when it does not say.
 *
 * `Retry-After` (RFC 9110 section 10.2.3: seconds, however many, or a date) counts first. Without it the moment at
 * which a rate limit starts anew is a hint: `RateLimit-Reset`, the `t` parameter of `RateLimit`
 * (IETF draft-ietf-httpapi-ratelimit-headers) and `X-RateLimit-Reset`.
 */
export function retryAfterMs(headers: ResponseHeaders, clock: Clock): number | null {
  return (
    secondsOf(first(headers["retry-after"])) ??
    waitOf(first(headers["retry-after"]), clock) ??
    waitOf(first(headers["ratelimit-reset"]), clock) ??
    waitOf(/(?:^|[;,])\s*(?:t|reset)=(\d+)/.exec(first(headers["ratelimit"]) ?? "")?.[1], clock) ??
    waitOf(first(headers["x-ratelimit-reset"]), clock)
  );
}

const number = /^[+-]?\d+(?:\.\d+)?$/;

function secondsOf(text: string | undefined): number | null {
  return text !== undefined && number.test(text) ? bounded(Number(text) * 1000) : null;
}

/** Bare numbers from here on are no wait but a moment, in seconds since 1970 (2001 and later). */
const firstMoment = 1e9;

function waitOf(text: string | undefined, clock: Clock): number | null {
  if (text === undefined) return null;
  if (number.test(text)) {
    const seconds = Number(text);
    const ms = seconds * 1000;
    if (seconds < firstMoment) return bounded(ms);
    return bounded((seconds < firstMoment * 1000 ? ms : seconds) - clock.now());
  }
  // The three forms of RFC 9110 section 5.6.7 begin with the name of a day; the third has no zone.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const moment = Date.parse(/GMT$|UTC$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(moment) ? null : bounded(moment - clock.now());
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), longestWaitMs);
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
