import type { Clock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import type { PaceServer, PaceWindow } from "../../store/redis/pace-server.js";
import type { LearnedRate } from "./adaptive-rate.js";
import { Limits } from "./limits.js";
import type { SlotSource } from "./own-slots.js";

interface SharedSlotsOptions {
  readonly server: PaceServer;
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A slot this late, in milliseconds, is given up, so that late slots don't crowd a second. */
export const lateMs = 20;

/** Slots for this long are asked for in advance once requests flow steadily, in milliseconds. */
const aheadMs = 12;

/** Minimum time between two calls, unless slots run out, and the pause after a failed one. */
const calls = { apartMs: 2, againMs: 100 };

/** Weight of the latest measurement in moving averages. */
const weight = 0.3;

/** How much two clocks may drift apart, as a share of the time between two calls. */
const drift = 2e-4;

/** Stands for no limit at all. */
const unlimited: PaceWindow = {
  name: "none",
  interval: 0.01,
  backlog: 0,
  fast: 0.01,
  late: lateMs,
};

/**
 * Slots that a server hands out in blocks to every process that shares a pace. Without an answer from
 * the server, nothing starts.
 *
 * Each process judges by its own answers. What it has learned has a number, its ticket: the first to
 * report a ticket is right, and the others take over what it has learned. The server keeps the highest
 * ticket and the latest end of a pause; a process that has a higher or later one tells it, also after
 * the server has lost everything.
 */
export class SharedSlots implements SlotSource {
  readonly limits: Limits;
  readonly #options: SharedSlotsOptions;
  readonly #over = new AbortController();
  #listener: () => void = () => undefined;
  /** Start of each slot in hand, in monotonic milliseconds, in order. */
  #slots: number[] = [];
  /** Slots to return with the next call. */
  #unused = 0;
  #waiting = 0;
  /** What the server had when it last replied. */
  #told = { ticket: 0, hold: 0 };
  #isAsking = false;
  /** Earliest time of the next call. */
  #askAt = Number.NEGATIVE_INFINITY;
  #rttMs = 1;
  /** Requests per millisecond, and those since the last call. */
  #flow = 0;
  #spent = 0;
  #flowSince = 0;
  #difference: ClockDifference = { ms: 0, errorMs: Number.POSITIVE_INFINITY, notedMs: 0 };

  constructor(options: SharedSlotsOptions) {
    const { rates, random, clock } = options;
    this.#options = options;
    const now = (): number => clock.monotonic() - this.#difference.ms;
    const onNews = (): void => this.#tell();
    this.limits = new Limits({ rates, random, now, lateMs: () => lateMs, onNews });
  }

  onSlots(listener: () => void): void {
    this.#listener = listener;
  }

  waitAt(now: number, waiting: number): number {
    this.#waiting = waiting;
    while (this.#slots.length > 0 && now - this.#slots[0]! > lateMs) {
      this.#slots.shift();
      this.#unused++;
    }
    const isWanted = this.#wanted() > 0;
    if (isWanted && this.#askAt <= now) void this.#ask();
    // What others don't know yet may void the slots in hand.
    if (!this.#isTold) return Number.POSITIVE_INFINITY;
    const wait = (this.#slots[0] ?? Number.POSITIVE_INFINITY) - now;
    return wait <= 0 || !isWanted || this.#isAsking ? wait : Math.min(wait, this.#askAt - now);
  }

  spend(): void {
    this.#slots.shift();
    this.#spent++;
  }

  /** Reports that the connection is lost: slots in hand may be handed out again. */
  lost(): void {
    this.#slots = [];
    this.#unused = 0;
  }

  async giveBack(): Promise<void> {
    this.#over.abort();
    this.#drop();
    if (this.#unused > 0) await this.#call(0).catch(() => undefined);
  }

  get #isTold(): boolean {
    const { ticket, pausedUntil } = this.limits;
    // Every answer may say that the limit is used up; others need not hear it again.
    return ticket <= this.#told.ticket && pausedUntil <= this.#told.hold + lateMs;
  }

  #tell(): void {
    if (this.#isTold) return;
    this.#drop();
    void this.#ask();
  }

  #drop(): void {
    this.#unused += this.#slots.length;
    this.#slots = [];
  }

  #wanted(): number {
    const missing = this.#waiting - this.#slots.length;
    const ahead = Math.ceil(this.#flow * (aheadMs + this.#rttMs));
    if (missing > 0) return Math.max(missing, ahead);
    return this.#slots.length * 2 < ahead ? ahead : 0;
  }

  /** Asks for slots until the server has answered and knows everything. */
  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const { signal } = this.#over;
    do {
      await this.#call(this.#wanted())
        .catch(() => this.#options.clock.sleep(calls.againMs, signal))
        .catch(() => undefined);
    } while (!this.#isTold && !signal.aborted);
    this.#isAsking = false;
    if (!signal.aborted) this.#listener();
  }

  async #call(want: number): Promise<void> {
    const { limits } = this;
    const { server, clock } = this.#options;
    const sent = clock.monotonic();
    const credit = this.#unused;
    this.#unused = 0;
    this.#measureFlow(sent);
    const windows = limits.windows();
    const grant = await server.take({
      windows: windows.length === 0 ? [unlimited] : windows,
      want,
      lead: this.#rttMs / 2 + 0.5,
      credit,
      ticket: limits.ticket,
      good: limits.good,
      hold: this.#isTold ? 0 : limits.pausedUntil,
      idle: limits.idleMs,
      learned: limits.ticket > this.#told.ticket ? JSON.stringify(limits.rate.learned) : "",
    });
    const received = clock.monotonic();
    this.#rttMs += (received - sent - this.#rttMs) * weight;
    this.#difference = clockDifference(this.#difference, sent, received, grant.now);
    // Slots handed out before a pause are void.
    if (grant.ticket !== this.#told.ticket || grant.hold > grant.now) this.#drop();
    this.#told = { ticket: grant.ticket, hold: grant.hold };
    if (grant.learned !== "") limits.rate.learned = JSON.parse(grant.learned) as LearnedRate;
    limits.good = Math.max(limits.good, grant.good);
    limits.pausedUntil = Math.max(limits.pausedUntil, grant.hold);
    // A server that has lost everything is told both again.
    if (grant.ticket >= limits.ticket) {
      limits.idleMs = grant.idle;
      limits.sent = grant.sent;
      limits.ticket = grant.ticket;
    }
    const at = grant.at + this.#difference.ms;
    for (let n = 0; n < grant.slots; n++) this.#slots.push(at + n * grant.spacing);
    this.#askAt = grant.slots > 0 ? received + calls.apartMs : at;
  }

  #measureFlow(now: number): void {
    const elapsed = now - this.#flowSince;
    if (elapsed < calls.apartMs) return;
    this.#flow += (this.#spent / elapsed - this.#flow) * weight;
    this.#spent = 0;
    this.#flowSince = now;
  }
}

/** Monotonic time less that of a server, how wrong that may be, and when it was noted, in milliseconds. */
interface ClockDifference {
  readonly ms: number;
  readonly errorMs: number;
  readonly notedMs: number;
}

/**
 * The difference after a call. Each one bounds it: the server read its clock between sending and
 * receiving. The quickest recent call is the most exact. Wall clocks don't matter.
 */
export function clockDifference(
  known: ClockDifference,
  sentMs: number,
  notedMs: number,
  serverMs: number,
): ClockDifference {
  const seen = { ms: (sentMs + notedMs) / 2 - serverMs, errorMs: (notedMs - sentMs) / 2, notedMs };
  const errorMs = known.errorMs + (notedMs - known.notedMs) * drift;
  // Otherwise the server's clock was set, or another server answers.
  const agrees = Math.abs(seen.ms - known.ms) <= seen.errorMs + errorMs;
  return agrees && errorMs < seen.errorMs ? { ms: known.ms, errorMs, notedMs } : seen;
}
