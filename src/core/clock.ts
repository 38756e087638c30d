import { setTimeout as delay } from "node:timers/promises";

/** Time as a dependency of pace, retry, cache and checkpoint, so that tests don't have to wait. */
export interface Clock {
  /** Wall-clock time in milliseconds since 1970-01-01T00:00:00Z. May jump, even backwards. */
  now(): number;
  /** Fractional milliseconds since an arbitrary moment, for measuring. Never goes backwards. */
  monotonic(): number;
  /**
   * Resolves after `ms` milliseconds, immediately if 0 or less.
   *
   * @throws the signal's reason if it aborts first
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  async sleep(ms, signal) {
    if (signal?.aborted) throw signal.reason;
    if (ms <= 0) return;
    try {
      await delay(ms, undefined, signal ? { signal } : undefined);
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};

let latest = { ms: Number.NaN, text: "" };

/** A time in RFC 3339, in UTC. Cheap for the same millisecond again, as with answers in bursts. */
export function timestamp(ms: number): string {
  if (ms !== latest.ms) latest = { ms, text: new Date(ms).toISOString() };
  return latest.text;
}

const dateTime =
  /^(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-]\d\d):(\d\d))$/;

/**
 * Microseconds since 1970-01-01T00:00:00Z of an RFC 3339 date-time (section 5.6), or null if the text
 * is not one. Truncates digits beyond microseconds; a leap second counts as the next minute.
 *
 * `Date.parse` accepts more than RFC 3339 allows and has millisecond precision only.
 */
export function parseTimestamp(text: string): bigint | null {
  const parts = dateTime.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map(Number) as Six;
  const [, , , , , , , fraction = "", offset = "+00", offsetMinute = "00"] = parts;
  const hours = Math.abs(Number(offset));
  const minutes = Number(offsetMinute);
  if (hour > 23 || minute > 59 || second > 60 || hours > 23 || minutes > 59) return null;
  // `Date.UTC` maps years below 100 to the 20th century.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (year < 1 || month < 1 || !isDay) return null;
  const east = (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
  const ms = date.getTime() + ((hour * 60 + minute - east) * 60 + second) * 1000;
  return BigInt(ms) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, "0"));
}

type Six = [number, number, number, number, number, number];
