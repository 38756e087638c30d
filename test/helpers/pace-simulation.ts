import type { Clock } from "../../src/core/clock.js";
import type { Attempt } from "../../src/core/finding.js";
import { Pace } from "../../src/client/pace/pace.js";
import { paced } from "../../src/client/lookup/compose.js";
import { Slots } from "../../src/client/pace/slots.js";
import type { AttemptLookup } from "../../src/client/lookup/types.js";
import { completeFinding } from "./complete-finding.mjs";
import { ManualClock } from "./manual-clock.js";

/** What a scripted server does with a request: when it answers, and whether it throttles. */
interface ScriptedAnswer {
  readonly afterMs: number;
  readonly throttled: boolean;
  /** `Retry-After` in milliseconds. @default none */
  readonly retryAfterMs?: number;
}

export type ScriptedServer = (nowMs: number, open: number) => ScriptedAnswer;

export interface Second {
  readonly sent: number;
  readonly accepted: number;
  readonly throttled: number;
  /** Maximum number of open requests. */
  readonly open: number;
}

/** Maximum number of open requests. */
const concurrency = 64;

interface SimulationOptions {
  /** Of the lateness of timers and arrivals. Default 1. */
  readonly seed?: number;
  /** How long a request takes to the server at most, in milliseconds. Default 0. */
  readonly shiftMs?: number;
  /** How long the server's machine stands still at most, in milliseconds, once a second. Default 0. */
  readonly stallMs?: number;
}

/**
 * Sends continuously through limit and an adaptive pace, as a run does, and counts the answers per
 * second.
 */
export async function simulatePace(
  server: ScriptedServer,
  seconds: number,
  { seed = 1, shiftMs = 0, stallMs = 0 }: SimulationOptions = {},
): Promise<readonly Second[]> {
  const timers = new ManualClock({ startMs: 0, steps: 24 });
  const random = linearCongruential(seed);
  const clock: Clock = {
    now: () => timers.now(),
    monotonic: () => timers.monotonic(),
    // Timers are late by up to 1 ms; exact ones are late only by what the system needs.
    sleep: (ms, _signal, isExact = false) => timers.sleep(ms + (isExact ? 0.1 : 1) * random()),
  };
  const counts = Array.from({ length: seconds + 1 }, () => ({ ...nothing }));
  const now = (): Mutable<Second> => counts[Math.floor(clock.now() / 1000)] ?? { ...nothing };
  const stalledUntil = stalls(stallMs, random);
  let open = 0;
  const ask: AttemptLookup = async () => {
    open++;
    const second = now();
    second.sent++;
    second.open = Math.max(second.open, open);
    if (shiftMs > 0) await timers.sleep(shiftMs * random());
    const stalledMs = stalledUntil(clock.now()) - clock.now();
    if (stalledMs > 0) await timers.sleep(stalledMs);
    const { afterMs, throttled, retryAfterMs = null } = server(clock.now(), open);
    await clock.sleep(afterMs);
    open--;
    if (throttled) now().throttled++;
    else now().accepted++;
    return throttled ? refused(retryAfterMs) : accepted;
  };
  const run = new Pace({ rates: [], clock, random: () => 0.5 });
  const lookup = new Slots(concurrency).limit(paced(run)(ask));
  const { signal } = new AbortController();
  const worker = async (): Promise<void> => {
    while (clock.now() < seconds * 1000)
      await lookup({ kind: "ip", value: "192.0.2.1" }, { signal });
  };
  for (let i = 0; i < 2 * concurrency; i++) void worker();
  await timers.advance(seconds * 1000);
  return counts.slice(0, seconds);
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const nothing: Second = { sent: 0, accepted: 0, throttled: 0, open: 0 };

const accepted: Attempt = { finding: completeFinding, outcome: "200", again: null, drift: [] };

function refused(afterMs: number | null): Attempt {
  return {
    finding: { ...completeFinding, status: "failed", httpStatus: 429 },
    outcome: "429",
    again: { policy: "throttled", afterMs },
    drift: [],
  };
}

const latencyMs = 40;

/** This many requests per second, with a small bucket for bursts. */
export function tokenBucket(limitAt: (nowMs: number) => number, burst = 15): ScriptedServer {
  let tokens = burst;
  let last = 0;
  return (now) => {
    tokens = Math.min(burst, tokens + ((now - last) * limitAt(now)) / 1000);
    last = now;
    const throttled = tokens < 1;
    if (!throttled) tokens--;
    return { afterMs: throttled ? latencyMs / 2 : latencyMs, throttled };
  };
}

/** This many requests in each second of the clock. */
export function fixedWindow(limit: number): ScriptedServer {
  let window = -1;
  let used = 0;
  return (now) => {
    const current = Math.floor(now / 1000);
    if (current !== window) used = 0;
    window = current;
    const throttled = used >= limit;
    if (!throttled) used++;
    return { afterMs: latencyMs, throttled };
  };
}

/** This many requests in any second. */
export function slidingWindow(limit: number): ScriptedServer {
  const taken: number[] = [];
  return (now) => {
    while (taken.length > 0 && (taken[0] ?? 0) <= now - 1000) taken.shift();
    const throttled = taken.length >= limit;
    if (!throttled) taken.push(now);
    return { afterMs: latencyMs, throttled };
  };
}

/** Never throttles, but slows down as more requests are open. */
export function slowingDown(perSecond: number): ScriptedServer {
  let busyUntil = 0;
  return (now) => {
    busyUntil = Math.max(busyUntil, now) + 1000 / perSecond;
    return { afterMs: latencyMs + busyUntil - now, throttled: false };
  };
}

/**
 * Also throttles this share of another server's answers, whatever the rate; the same ones each
 * time.
 */
export function ill(
  server: ScriptedServer,
  shareAt: (nowMs: number) => number,
  seed: number,
): ScriptedServer {
  const random = linearCongruential(seed);
  return (now, open) => {
    const answer = server(now, open);
    return random() < shareAt(now) ? { ...answer, throttled: true } : answer;
  };
}

/** Random numbers from 0 to 1, with the constants of glibc's rand: good enough for a share. */
function linearCongruential(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return ((state >>> 8) & 0xffff) / 0x10000;
  };
}

/** Another server with `Retry-After` in its throttle answers. */
export function askingToWait(server: ScriptedServer, retryAfterMs: number): ScriptedServer {
  return (now, open) => ({ ...server(now, open), retryAfterMs });
}

/** Never throttles, and takes the same time for each answer. */
export function withoutLimit(): ScriptedServer {
  return () => ({ afterMs: latencyMs, throttled: false });
}

/** Requests of one kind, summed over all seconds. */
export function sum(seconds: readonly Second[], what: keyof Second): number {
  return seconds.reduce((total, second) => total + second[what], 0);
}

/** Share of a limit used from second `from` to second `to`. */
export function used(seconds: readonly Second[], limit: number, from: number, to: number): number {
  return sum(seconds.slice(from, to), "accepted") / (limit * (to - from));
}

/** Share of the requests that were throttled. */
export function throttledShare(seconds: readonly Second[]): number {
  return sum(seconds, "throttled") / sum(seconds, "sent");
}

/** The most requests in any second. */
export function worstSecond(times: readonly number[]): number {
  let [most, from] = [0, 0];
  for (const [to, at] of times.entries()) {
    while (at - times[from]! >= 1000) from++;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

/**
 * Times in which nothing arrives: one in each second, at a random time and of a random length. Returns
 * when what arrives at `now` is read.
 */
function stalls(mostMs: number, random: () => number): (now: number) => number {
  let [last, from, until] = [-1, 0, 0];
  return (now) => {
    const second = Math.floor(now / 1000);
    if (mostMs > 0 && second !== last) {
      last = second;
      from = 1000 * second + 900 * random();
      until = from + mostMs * random();
    }
    return now >= from && now < until ? until : now;
  };
}
