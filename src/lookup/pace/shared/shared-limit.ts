import type { Clock } from "../../../core/clock.js";
import type { Rate } from "../../../core/options.js";
import type { Grant, PaceServer, PaceWindow } from "../../../store/redis/pace-server.js";
import { AdaptiveRate, type LearnedRate } from "../adaptive-rate.js";
import { pauseMs, shownBy } from "../limit-state.js";
import type { Throttling } from "../request-pace.js";
import { adaptiveWindow, paceWindow } from "./pace-windows.js";

/** Delay until a report that the server did not take is repeated, in milliseconds. */
const againMs = 100;

export interface SharedLimitOptions {
  readonly server: PaceServer;
  readonly clock: Clock;
  readonly random: () => number;
  /** Milliseconds of the server now. */
  readonly serverMs: () => number;
}

/**
 * What all processes that share a pace have learned from answers. Each judges by its own answers; the
 * first to report a cut or a pause is right, and the others take over what it has learned.
 */
export class SharedLimit {
  readonly #options: SharedLimitOptions;
  readonly #rate = new AdaptiveRate(() => this.#sent);
  readonly #advised = new Map<string, Rate>();
  readonly #closed = new AbortController();
  #ticket = 0;
  /** Ticket of the last request that was accepted, at any process. */
  #good = 0;
  #idleMs = 0;
  /** Slots handed out so far. */
  #sent = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /** Whether what was learned may differ from what the server has. */
  #isStale = false;
  /** Reports that the server may not have yet. */
  #reports = 0;

  constructor(options: SharedLimitOptions) {
    this.#options = options;
  }

  get throttling(): Throttling {
    return shownBy(this.#rate, this.#ticket);
  }

  /** Milliseconds until the pause after a throttle answer ends; 0 without one. */
  get pausedMs(): number {
    return Math.max(0, this.#pausedUntil - this.#options.serverMs());
  }

  /** What the server has to know with each call. */
  get known(): { readonly ticket: number; readonly good: number } {
    return { ticket: this.#isStale ? -1 : this.#ticket, good: this.#good };
  }

  windows(): PaceWindow[] {
    const windows = [...this.#advised].map(([by, rate]) => paceWindow(`advised ${by}`, rate));
    const rate = this.#rate.rateAt(this.#now());
    return rate === Number.POSITIVE_INFINITY ? windows : [...windows, adaptiveWindow(rate)];
  }

  /** Takes over what others have learned. */
  receive({ ticket, good, hold, idle, sent, learned }: Grant): void {
    if (this.#reports > 0) return;
    // The server has lost it.
    if (ticket < this.#ticket) return void this.#report(this.pausedMs);
    if (learned !== "") this.#rate.learned = JSON.parse(learned) as LearnedRate;
    this.#isStale = false;
    this.#ticket = ticket;
    this.#good = Math.max(this.#good, good);
    this.#pausedUntil = hold / 1000;
    this.#idleMs = idle / 1000;
    this.#sent = sent;
  }

  accepted(ticket: number): void {
    this.#good = Math.max(this.#good, ticket);
    if (this.#rate.accepted(this.#now(), ticket)) void this.#report(0);
  }

  /** Resolves once every client of the pace holds; null if none has to. */
  throttled(afterMs: number | null, ticket: number): Promise<void> | null {
    const isNews = ticket === this.#ticket;
    const isMuch = this.#rate.throttled(this.#now(), ticket, this.#ticket, afterMs ?? 0);
    if (isNews && (isMuch || afterMs !== null)) {
      return this.#report(afterMs ?? pauseMs(ticket - this.#good, this.#options.random()));
    }
    return afterMs === null ? null : this.hold(afterMs);
  }

  hold(ms: number): Promise<void> {
    return this.#send(this.#options.serverMs() + ms, -1);
  }

  /** The service declares a rate; each process keeps those that it was told. */
  advise(by: string, rate: Rate): void {
    this.#advised.set(by, rate);
  }

  close(): void {
    this.#closed.abort();
  }

  /** Tells what was learned, and of a pause. */
  #report(pause: number): Promise<void> {
    const ticket = this.#ticket++;
    return this.#send(pause > 0 ? this.#options.serverMs() + pause : 0, ticket);
  }

  async #send(holdMs: number, ticket: number): Promise<void> {
    const { server, clock } = this.#options;
    this.#pausedUntil = Math.max(this.#pausedUntil, holdMs);
    const learned = JSON.stringify(this.#rate.learned);
    const report = { ticket, hold: holdMs * 1000, learned, idle: this.#idleMs * 1000 };
    this.#reports++;
    for (let isSent = false; !isSent && !this.#closed.signal.aborted;) {
      try {
        if (!(await server.report(report)) && ticket >= 0) this.#isStale = true;
        isSent = true;
      } catch {
        await clock.sleep(againMs, this.#closed.signal).catch(() => undefined);
      }
    }
    this.#reports--;
  }

  /** Milliseconds of the server in which the rate was used up. */
  #now(): number {
    return this.#options.serverMs() - this.#idleMs;
  }
}
