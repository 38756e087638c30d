import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import type { ResponseHeaders } from "./types.js";

/**
 * How long to send nothing, in milliseconds, because an answer declares a limit used up; null if it
 * doesn't. Reads `RateLimit` (parameter `r` or `remaining`), `RateLimit-Remaining` (IETF
 * draft-ietf-httpapi-ratelimit-headers) and `X-RateLimit-Remaining`; `retryAfterMs` supplies the time.
 */
export function rateLimitHintMs(headers: ResponseHeaders, clock: Clock): number | null {
  const limits = text(headers["ratelimit"]);
  if (limits !== "") return longestOf(limits, headers, clock);
  const left = text(headers["ratelimit-remaining"]) || text(headers["x-ratelimit-remaining"]);
  return /^0+$/.test(left) ? retryAfterMs(headers, clock) : null;
}

/** Longest wait among the used-up limits of a list (`"minute";r=9;t=4, "day";r=0;t=900`). */
function longestOf(limits: string, headers: ResponseHeaders, clock: Clock): number | null {
  let longest: number | null = null;
  for (const limit of limits.split(/,(?=\s*")/)) {
    if (!/(?:^|[;,])\s*(?:r|remaining)=0+(?!\d)/.test(limit)) continue;
    const wait = retryAfterMs({ ...headers, ratelimit: limit }, clock);
    if (wait !== null) longest = Math.max(longest ?? 0, wait);
  }
  return longest;
}

function text(value: string | string[] | undefined): string {
  if (value === undefined) return "";
  return (Array.isArray(value) ? value.join(", ") : value).trim();
}

/** Longer windows are ignored: spread evenly, a quota of 1,440 a day would allow one request a minute. */
const longestWindowMs = 60_000;

/**
 * The strictest rate declared in `RateLimit-Policy` (IETF draft-ietf-httpapi-ratelimit-headers:
 * `"burst";q=100;w=10`, and `100;w=10` in earlier drafts); null without one. Ignores windows longer
 * than a minute, and quotas that don't count requests.
 */
export function rateLimitPolicy(headers: ResponseHeaders): Rate | null {
  const header = headers["ratelimit-policy"];
  if (header === undefined) return null;
  let strictest: Rate | null = null;
  for (const policy of String(header).split(",")) {
    const count = Number(/;\s*q=(\d+)/.exec(policy)?.[1] ?? /^\s*(\d+)\s*;/.exec(policy)?.[1] ?? 0);
    const perMs = 1000 * Number(/;\s*w=(\d+)/.exec(policy)?.[1] ?? 0);
    const unit = /;\s*qu="?([\w-]+)/.exec(policy)?.[1] ?? "requests";
    if (count < 1 || perMs < 1 || perMs > longestWindowMs || unit !== "requests") continue;
    if (strictest === null || count / perMs < strictest.count / strictest.perMs) {
      strictest = { count, perMs };
    }
  }
  return strictest;
}

/** A year in milliseconds; caps longer waits, so that their end is a valid date. */
const maxWaitMs = 365 * 24 * 3_600_000;

/**
 * How long the service asks to wait, in milliseconds from now; null if it doesn't.
 *
 * `Retry-After` (RFC 9110 section 10.2.3: seconds or a date) comes first. Otherwise the reset time of a
 * rate limit serves as a hint: `RateLimit-Reset`, parameter `t` of `RateLimit` (IETF
 * draft-ietf-httpapi-ratelimit-headers) or `X-RateLimit-Reset`.
 */
export function retryAfterMs(headers: ResponseHeaders, clock: Clock): number | null {
  return (
    // A number in Retry-After is never a Unix time.
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

/** Smaller numbers are seconds to wait, larger ones Unix times: in milliseconds from 1000 times this on. */
const firstUnixTime = 1e9;

function waitOf(text: string | undefined, clock: Clock): number | null {
  if (text === undefined) return null;
  if (number.test(text)) {
    const seconds = Number(text);
    const ms = seconds * 1000;
    if (seconds < firstUnixTime) return bounded(ms);
    return bounded((seconds < firstUnixTime * 1000 ? ms : seconds) - clock.now());
  }
  // All three formats of RFC 9110 section 5.6.7 start with a day name; the third lacks a time zone.
  if (!/^[A-Za-z]{3,9},? /.test(text)) return null;
  const moment = Date.parse(/GMT$|UTC$/.test(text) ? text : `${text} GMT`);
  return Number.isNaN(moment) ? null : bounded(moment - clock.now());
}

function bounded(ms: number): number {
  return Math.min(Math.max(ms, 0), maxWaitMs);
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}
