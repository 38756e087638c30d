import type { Clock } from "../../../core/clock.js";
import type { Rate } from "../../../core/options.js";
import type { Grant, PaceServer, PaceWindow } from "../../../store/redis/pace-server.js";
import type { LearnedRate } from "../adaptive-rate.js";
import { LimitState } from "../limit-state.js";
import type { Limiter } from "../limiter.js";
import type { Throttling } from "../request-pace.js";
import { adaptiveWindow, lateMs, paceWindow, unlimited } from "./pace-windows.js";
import { ServerTime } from "./server-time.js";

export interface SharedLimiterOptions {
  readonly server: PaceServer;
  /** Rates below an hour. */
  readonly rates: readonly Rate[];
  readonly clock: Clock;
  /** Random numbers from 0 (inclusive) to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** Slots for this long are asked for in advance once requests flow steadily, in milliseconds. */
const aheadMs = 12;

/** Minimum time between two calls, unless slots run out, and the pause after a failed one. */
const calls = { apartMs: 2, againMs: 100 };

/** Weight of the latest measurement in moving averages. */
const weight = 0.3;

/**
 * Limits requests together with other processes through a server, which hands out time slots. Without
 * an answer from the server, nothing starts.
 *
 * Each process judges by its own answers; the first to report a cut or a pause is right, and the others
 * take over what it has learned.
 */
export class SharedLimiter implements Limiter {
  /** That of the slots in hand. */
  ticket = 0;
  readonly #options: SharedLimiterOptions;
  readonly #onChange: () => void;
  readonly #windows: readonly PaceWindow[];
  readonly #advised = new Map<string, Rate>();
  /** In milliseconds of the server. */
  readonly #limit: LimitState;
  readonly #time = new ServerTime();
  readonly #closed = new AbortController();
  /** Start of each slot in hand, in monotonic milliseconds, in order. */
  #slots: number[] = [];
  /** Slots to return with the next call. */
  #unused = 0;
  /** Reports that the server may not have yet. */
  #reports = 0;
  /** Whether what was learned may differ from what the server has. */
  #isStale = false;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** Earliest time of the next call. */
  #askAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #rttMs = 1;
  /** Requests per millisecond, and those since the last call. */
  #flow = 0;
  #released = 0;
  #flowSince = 0;

  constructor(options: SharedLimiterOptions, onChange: () => void) {
    this.#options = options;
    this.#onChange = onChange;
    this.#windows = options.rates.map((rate) => paceWindow(`per ${rate.perMs}`, rate));
    this.#limit = new LimitState(options.random ?? Math.random);
  }

  get throttling(): Throttling {
    return this.#limit.throttling;
  }

  pausedMs(now: number): number {
    return Math.max(0, this.#limit.pausedUntil - this.#time.toServerMs(now));
  }

  /** Asks for slots if more are wanted. */
  waitAt(now: number, waiting: number): number {
    if (this.#reports > 0 || this.#closed.signal.aborted) return Number.POSITIVE_INFINITY;
    while (now - (this.#slots[0] ?? now) > lateMs) {
      this.#slots.shift();
      this.#unused++;
    }
    const slotAt = Math.max(this.#slots[0] ?? Number.POSITIVE_INFINITY, this.#heldUntil);
    if (slotAt <= now) return 0;
    const want = this.#isAsking ? 0 : this.#wanted(waiting);
    if (want === 0) return slotAt - now;
    if (this.#askAt > now) return Math.min(slotAt, this.#askAt) - now;
    void this.#ask(want);
    return slotAt - now;
  }

  spend(): void {
    this.#slots.shift();
    this.#released++;
  }

  throttled(now: number, afterMs: number | null, ticket: number): void {
    const before = this.#limit.ticket;
    if (!this.#limit.throttled(this.#time.toServerMs(now), afterMs, ticket)) return;
    this.#drop();
    void this.#report(this.#limit.ticket === before ? -1 : before);
  }

  succeeded(now: number, ticket: number): void {
    if (this.#limit.succeeded(this.#time.toServerMs(now), ticket)) {
      void this.#report(this.#limit.ticket++);
    }
  }

  hold(now: number, ms: number): void {
    // Every answer may say so; others need not hear it again.
    if (now + ms <= this.#heldUntil + lateMs) return;
    this.#heldUntil = now + ms;
    this.#drop();
    this.#limit.hold(this.#time.toServerMs(now), ms);
    void this.#report(-1);
  }

  /** Each process keeps the rates that it was told. */
  advise(by: string, rate: Rate): void {
    this.#advised.set(by, rate);
  }

  /** Reports that the connection is lost: slots in hand may be handed out again. */
  lost(): void {
    this.#slots = [];
    this.#unused = 0;
  }

  /** Returns unused slots, and repeats no more reports. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#drop();
    if (this.#unused > 0) await this.#call(0).catch(() => undefined);
  }

  /** Returns the slots in hand. */
  #drop(): void {
    this.#unused += this.#slots.length;
    this.#slots = [];
  }

  #wanted(waiting: number): number {
    const missing = waiting - this.#slots.length;
    const ahead = Math.ceil(this.#flow * (aheadMs + this.#rttMs));
    if (missing > 0) return Math.max(missing, ahead);
    return this.#slots.length * 2 < ahead ? ahead : 0;
  }

  async #ask(want: number): Promise<void> {
    const { clock } = this.#options;
    this.#isAsking = true;
    try {
      const grant = await this.#call(want);
      if (grant.slots === 0) this.#askAt = this.#time.toLocalMs(grant.at);
      else this.#askAt = clock.monotonic() + calls.apartMs;
    } catch {
      this.#askAt = clock.monotonic() + calls.againMs;
    }
    this.#isAsking = false;
    this.#onChange();
  }

  async #call(want: number): Promise<Grant> {
    const { server, clock } = this.#options;
    const sent = clock.monotonic();
    const credit = this.#unused;
    this.#unused = 0;
    this.#measureFlow(sent);
    const grant = await server.take({
      windows: this.#allWindows(sent),
      want,
      lead: (this.#rttMs / 2 + 0.5) * 1000,
      credit,
      ticket: this.#isStale ? -1 : this.#limit.ticket,
      good: this.#limit.good,
    });
    const received = clock.monotonic();
    this.#rttMs += (received - sent - this.#rttMs) * weight;
    this.#time.note(sent, received, grant.now);
    this.#receive(grant);
    // Slots handed out before a pause are void.
    if (grant.ticket !== this.ticket || grant.hold > grant.now) this.#drop();
    this.ticket = grant.ticket;
    for (let i = 0; i < grant.slots; i++) {
      this.#slots.push(this.#time.toLocalMs(grant.at + i * grant.spacing));
    }
    return grant;
  }

  #allWindows(now: number): readonly PaceWindow[] {
    const advised = [...this.#advised].map(([by, rate]) => paceWindow(`advised ${by}`, rate));
    const rate = this.#limit.rateAt(this.#time.toServerMs(now));
    const found = rate === Number.POSITIVE_INFINITY ? [] : [adaptiveWindow(rate)];
    const all = [...this.#windows, ...advised, ...found];
    return all.length === 0 ? [unlimited] : all;
  }

  #measureFlow(now: number): void {
    const elapsed = now - this.#flowSince;
    if (elapsed < calls.apartMs) return;
    this.#flow += (this.#released / elapsed - this.#flow) * weight;
    this.#released = 0;
    this.#flowSince = now;
  }

  /** Takes over what others have learned. */
  #receive({ ticket, good, hold, idle, sent, learned }: Grant): void {
    const limit = this.#limit;
    if (this.#reports > 0) return;
    // The server has lost it.
    if (ticket < limit.ticket) return void this.#report(limit.ticket++);
    if (learned !== "") limit.learned = JSON.parse(learned) as LearnedRate;
    this.#isStale = false;
    limit.ticket = ticket;
    limit.good = Math.max(limit.good, good);
    limit.pausedUntil = hold / 1000;
    limit.idleMs = idle / 1000;
    limit.sent = sent;
  }

  /**
   * Tells the server of pauses and of what was learned. Nothing starts until it knows.
   *
   * @param ticket number of pauses before what was learned; -1 if only a pause is news
   */
  async #report(ticket: number): Promise<void> {
    const { server, clock } = this.#options;
    const { learned, idleMs, pausedUntil } = this.#limit;
    const hold = Math.max(0, pausedUntil) * 1000;
    const report = { ticket, hold, learned: JSON.stringify(learned), idle: idleMs * 1000 };
    this.#reports++;
    for (let isSent = false; !isSent && !this.#closed.signal.aborted;) {
      try {
        if (!(await server.report(report)) && ticket >= 0) this.#isStale = true;
        isSent = true;
      } catch {
        await clock.sleep(calls.againMs, this.#closed.signal).catch(() => undefined);
      }
    }
    this.#reports--;
    if (this.#reports === 0) this.#onChange();
  }
}
