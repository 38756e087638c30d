import { setImmediate as immediate, setTimeout as delay } from "node:timers/promises";

/** Time as a dependency of pace, retry, cache and checkpoint, so that tests don't have to wait. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970-01-01T00:00:00Z. May jump, even backwards. */
  now(): number;
  /** Fractional milliseconds since an arbitrary moment, for measuring. Never goes backwards. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, immediately if 0 or less.
   *
   * @param isExact whether about 0.1 ms matters: timers are late by up to 1 ms. Blocks the thread for
   *   most of the last milliseconds, in short pieces
   * @throws the signal's reason if it aborts first
   */
  sleep(ms: number, signal?: AbortSignal, isExact?: boolean): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal, isExact = false) {
    if (signal?.aborted) throw signal.reason;
    if (ms <= 0) return;
    const until = performance.now() + ms;
    const timerMs = isExact ? Math.floor(ms) - 1 : ms;
    try {
      if (timerMs > 0) await delay(timerMs, undefined, signal ? { signal } : undefined);
      if (isExact) await blockUntil(until, signal);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

/** Maximum time that the thread is blocked at once, in milliseconds: answers wait no longer than this. */
const longestBlockMs = 0.25;

const neverChanges = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits with the precision of the system's clock, without using the processor. What the caller has just
 * released leaves first, in the two turns that a request takes to the thread.
 */
async function blockUntil(until: number, signal: AbortSignal | undefined): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await immediate(undefined, signal ? { signal } : undefined);
  for (let left = until - performance.now(); left > 0; left = until - performance.now()) {
    Atomics.wait(neverChanges, 0, 0, Math.min(left, longestBlockMs));
    await immediate(undefined, signal ? { signal } : undefined);
  }
}

let latest = { ms: Number.NaN, text: "" };

/** A time in RFC 3339, in UTC. Cheap for the same millisecond again, as with answers in bursts. */
export function timestamp(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

const dateTime =
  /^(?!0000)(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt ]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d+))?(?:[Zz]|([+-](?:[01]\d|2[0-3])):([0-5]\d))$/;

/** Whether a text is an RFC 3339 date-time (section 5.6). A space is accepted instead of `T`. */
export function isTimestamp(text: string): boolean {
  return dateTime.test(text) && isDay(text);
}

const leastDays = 28;

function isDay(text: string): boolean {
  const day = Number(text.slice(8, 10));
  if (day <= leastDays) return true;
  const monthEnd = Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0);
  return day <= new Date(monthEnd).getUTCDate();
}

/**
 * Microseconds since 1970-01-01T00:00:00Z of an RFC 3339 date-time, or null if the text is not one.
 * Truncates digits beyond microseconds; a leap second counts as the next minute.
 *
 * `Date.parse` accepts more than RFC 3339 allows and has millisecond precision only.
 */
export function parseTimestamp(text: string): bigint | null {
  const parts = dateTime.exec(text);
  if (parts === null || !isDay(text)) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as Six;
  const [, , , , , , , fraction = "", offset = "+00", offsetMinute = "00"] = parts;
  // `Date.UTC` maps years below 100 to the 20th century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const east =
    (offset.startsWith("-") ? -1 : 1) * (Math.abs(Number(offset)) * 60 + Number(offsetMinute));
  const ms = date.getTime() + ((hour * 60 + minute - east) * 60 + second) * 1000;
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

type Six = [number, number, number, number, number, number];

/**
 * A time in RFC 3339, UTC, with as many decimals as it needs.
 *
 * @param units time since 1970-01-01T00:00:00Z
 * @param decimals decimals of a second in `units`: 3 for milliseconds
 */
export function timeText(units: bigint, decimals: number): string {
  const perSecond = 10n ** BigInt(decimals);
  const within = ((units % perSecond) + perSecond) % perSecond;
  const date = new Date(Number((units - within) / perSecond) * 1000);
  // Beyond the years that Date covers, and beyond those that RFC 3339 can write.
  if (Number.isNaN(date.getTime())) return String(units);
  const fraction = String(within).padStart(decimals, "0").replace(/0+$/, "");
  return date.toISOString().replace(".000Z", fraction === "" ? "Z" : `.${fraction}Z`);
}
