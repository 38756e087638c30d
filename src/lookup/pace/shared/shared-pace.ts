import type { Clock } from "../../../core/clock.js";
import { isQuota, type Rate } from "../../../core/options.js";
import type { Grant, PaceServer, PaceWindow } from "../../../store/redis/pace-server.js";
import { FairQueue } from "../fair-queue.js";
import { QuotaGate, type QuotaGateOptions } from "../quota-gate.js";
import type { RequestPace, Throttling } from "../request-pace.js";
import { lateMs, paceWindow, unlimited } from "./pace-windows.js";
import { ServerTime } from "./server-time.js";
import { SharedLimit } from "./shared-limit.js";

export interface SharedPaceOptions extends QuotaGateOptions {
  readonly server: PaceServer;
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
 * A pace shared with other processes through a server, which hands out time slots. Without an answer
 * from the server, nothing starts.
 */
export class SharedPace implements RequestPace {
  readonly #server: PaceServer;
  readonly #clock: Clock;
  readonly #quotas: QuotaGate;
  readonly #windows: readonly PaceWindow[];
  readonly #limit: SharedLimit;
  readonly #time = new ServerTime();
  readonly #queue = new FairQueue<number>();
  /** Start of each slot in hand, in monotonic milliseconds, in order. */
  #slots: number[] = [];
  /** Slots to return with the next call. */
  #unused = 0;
  #ticket = 0;
  /** Reports of throttling that others don't know yet. */
  #reporting = 0;
  #heldUntil = Number.NEGATIVE_INFINITY;
  /** Earliest time of the next call. */
  #askAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  #isOver = false;
  #rttMs = 1;
  /** Requests per millisecond, and those since the last call. */
  #flow = 0;
  #released = 0;
  #flowSince = 0;
  #timer: AbortController | null = null;

  constructor(options: SharedPaceOptions) {
    const { server, clock, rates, random = Math.random } = options;
    this.#server = server;
    this.#clock = clock;
    this.#quotas = new QuotaGate(options);
    this.#windows = rates
      .filter((rate) => !isQuota(rate))
      .map((rate) => paceWindow(`per ${rate.perMs}`, rate));
    const serverMs = (): number => this.#time.toServerMs(clock.monotonic());
    this.#limit = new SharedLimit({ server, clock, random, serverMs });
  }

  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const turn = this.#queue.enqueue(signal);
    // A timer or a reply will look after it otherwise.
    if (this.#timer === null && !this.#isAsking) this.#wake();
    return turn;
  }

  throttled(afterMs: number | null, ticket: number): void {
    const told = this.#limit.throttled(afterMs, ticket);
    if (told === null) return;
    this.#drop();
    this.#reporting++;
    void told.finally(() => {
      this.#reporting--;
      this.#wake();
    });
  }

  succeeded(ticket: number): void {
    this.#limit.accepted(ticket);
  }

  hold(ms: number): void {
    const until = this.#clock.monotonic() + ms;
    // Every answer may say so; others need not hear it again.
    if (until <= this.#heldUntil + lateMs) return;
    this.#heldUntil = until;
    this.#drop();
    void this.#limit.hold(ms);
  }

  advise(by: string, rate: Rate): void {
    this.#limit.advise(by, rate);
  }

  get throttling(): Throttling {
    return this.#limit.throttling;
  }

  get pausedMs(): number {
    return this.#limit.pausedMs;
  }

  ended(): void {
    this.#quotas.ended();
  }

  /** Reports that the connection is lost: slots in hand may be handed out again. */
  lost(): void {
    this.#slots = [];
    this.#unused = 0;
  }

  /** Returns unused slots and reservations. Call when the run is over. */
  async giveBack(): Promise<void> {
    this.#isOver = true;
    this.#timer?.abort();
    this.#drop();
    if (this.#unused > 0) await this.#call(0).catch(() => undefined);
    this.#limit.close();
    await this.#quotas.giveBack();
  }

  #drop(): void {
    this.#unused += this.#slots.length;
    this.#slots = [];
  }

  /** Releases every request that may start, asks for slots, and sets the timer for the next. */
  #wake(): void {
    this.#timer?.abort();
    this.#timer = null;
    if (this.#isOver) return;
    const quotaWait = this.#release();
    if (this.#queue.size === 0) return;
    const now = this.#clock.monotonic();
    if (quotaWait > 0) return this.#sleep(quotaWait);
    const mayAsk = !this.#isAsking && this.#reporting === 0 && this.#wanted() > 0;
    if (mayAsk && this.#askAt <= now) void this.#ask();
    const next = Math.min(
      this.#slots[0] ?? Number.POSITIVE_INFINITY,
      mayAsk && this.#askAt > now ? this.#askAt : Number.POSITIVE_INFINITY,
    );
    if (Number.isFinite(next)) this.#sleep(next - now);
  }

  /** Milliseconds to wait for a quota; 0 for none. */
  #release(): number {
    if (this.#reporting > 0) return 0;
    while (this.#queue.size > 0) {
      const now = this.#clock.monotonic();
      while (this.#slots.length > 0 && now - (this.#slots[0] ?? 0) > lateMs) {
        this.#slots.shift();
        this.#unused++;
      }
      const quotaWait = this.#quotas.wait();
      if (quotaWait > 0) return quotaWait;
      const [slot] = this.#slots;
      if (slot === undefined || slot > now || this.#heldUntil > now) return 0;
      this.#slots.shift();
      this.#quotas.spend();
      this.#released++;
      this.#queue.release(this.#ticket);
    }
    return 0;
  }

  #wanted(): number {
    const missing = this.#queue.size - this.#slots.length;
    const ahead = Math.ceil(this.#flow * (aheadMs + this.#rttMs));
    if (missing > 0) return Math.max(missing, ahead);
    return this.#slots.length * 2 < ahead ? ahead : 0;
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    try {
      const grant = await this.#call(this.#wanted());
      if (grant.slots === 0) this.#askAt = this.#time.toLocalMs(grant.at);
      else this.#askAt = this.#clock.monotonic() + calls.apartMs;
    } catch {
      this.#askAt = this.#clock.monotonic() + calls.againMs;
    } finally {
      this.#isAsking = false;
      this.#wake();
    }
  }

  async #call(want: number): Promise<Grant> {
    const sent = this.#clock.monotonic();
    const credit = this.#unused;
    this.#unused = 0;
    this.#measureFlow(sent);
    const windows = [...this.#windows, ...this.#limit.windows()];
    const grant = await this.#server.take({
      windows: windows.length === 0 ? [unlimited] : windows,
      want,
      lead: (this.#rttMs / 2 + 0.5) * 1000,
      credit,
      ...this.#limit.known,
    });
    const received = this.#clock.monotonic();
    this.#rttMs += (received - sent - this.#rttMs) * weight;
    this.#time.note(sent, received, grant.now);
    this.#limit.receive(grant);
    // Slots handed out before a pause are void.
    if (grant.ticket !== this.#ticket || grant.hold > grant.now) this.#drop();
    this.#ticket = grant.ticket;
    for (let i = 0; i < grant.slots; i++) {
      this.#slots.push(this.#time.toLocalMs(grant.at + i * grant.spacing));
    }
    return grant;
  }

  #measureFlow(now: number): void {
    const elapsed = now - this.#flowSince;
    if (elapsed < calls.apartMs) return;
    this.#flow += (this.#released / elapsed - this.#flow) * weight;
    this.#released = 0;
    this.#flowSince = now;
  }

  #sleep(ms: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    // Timers have millisecond granularity.
    this.#clock.sleep(Math.max(1, Math.ceil(ms)), timer.signal).then(
      () => {
        this.#timer = null;
        this.#wake();
      },
      () => undefined,
    );
  }
}
