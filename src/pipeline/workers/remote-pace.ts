import { type Clock, systemClock } from "../../core/clock.js";
import type { Rate } from "../../core/options.js";
import { FairQueue } from "../../lookup/pace/fair-queue.js";
import type { RequestPace } from "../../lookup/pace/request-pace.js";
import type { Outcomes, PaceName, TicketCount } from "./messages.js";

/**
 * Slots in stock leave later than the pace has counted them: under a limit, there are as few as this
 * share of those of a second. They are dropped after `staleMs`, so that a pause soon holds every worker. Answers
 * are reported after `reportMs` at most.
 */
const stock = { share: 0.01, staleMs: 100, reportMs: 20 };

export interface RemotePaceOptions {
  readonly name: PaceName;
  /** Most slots to have in stock; 0 to ask for each when a request needs it. */
  readonly mostAhead: number;
  readonly report: (outcomes: Outcomes) => void;
  /** @default the system clock */
  readonly clock?: Clock | undefined;
}

/**
 * A pace that the parent process keeps for all workers. What happens within one turn of the event
 * loop travels as one message; at high rates, slots are taken from a stock.
 */
export class RemotePace implements RequestPace {
  readonly #name: PaceName;
  readonly #report: (outcomes: Outcomes) => void;
  readonly #clock: Clock;
  readonly #queue = new FairQueue<number | Error>();
  readonly #mostAhead: number;
  /** Slots to have in stock: none after a sign of a limit, then as the latest second shows. */
  #ahead: number;
  /** Slots granted since the time at which that was last measured; null without a limit. */
  #granted: { readonly sinceMs: number; count: number } | null = null;
  #stock: { readonly ticket: number; readonly atMs: number; count: number }[] = [];
  /** Slots asked for that have not arrived. */
  #asked = 0;
  /** The latest ticket: each pause brings another. */
  #ticket = 0;
  /** Rates that the service declares, by source. */
  readonly #advised = new Map<string, Rate>();
  #ended: Error | null = null;
  #succeeded = new Map<number, number>();
  #throttled: Outcomes["throttled"][number][] = [];
  #holds: number[] = [];
  #advice: Outcomes["advice"][number][] = [];
  #isDue = false;
  #timer: NodeJS.Timeout | null = null;

  constructor({ name, mostAhead, report, clock = systemClock }: RemotePaceOptions) {
    this.#name = name;
    this.#mostAhead = mostAhead;
    this.#report = report;
    this.#clock = clock;
    this.#ahead = mostAhead;
  }

  take(signal: AbortSignal): Promise<number> {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#ended !== null) return Promise.reject(this.#ended);
    const ticket = this.#fromStock();
    if (ticket !== null) return Promise.resolve(ticket);
    this.#soon();
    return this.#queue.enqueue(signal).then((turn) => {
      if (turn instanceof Error) throw turn;
      return turn;
    });
  }

  /** The parent grants slots. */
  grant(granted: readonly TicketCount[]): void {
    for (const [ticket, count] of granted) {
      this.#asked -= count;
      if (ticket > this.#ticket) this.#limited();
      this.#ticket = Math.max(this.#ticket, ticket);
      this.#measure(count);
      let left = count;
      while (left > 0 && this.#queue.release(ticket)) left--;
      if (left > 0) this.#stock.push({ ticket, atMs: this.#clock.monotonic(), count: left });
    }
  }

  /** Nothing may be sent any more. */
  end(error: Error): void {
    this.#ended = error;
    while (this.#queue.release(error));
  }

  throttled(afterMs: number | null, ticket: number): void {
    this.#limited();
    this.#throttled.push({ afterMs, ticket });
    this.#soon();
  }

  succeeded(ticket: number): void {
    this.#succeeded.set(ticket, (this.#succeeded.get(ticket) ?? 0) + 1);
    if (this.#ahead === 0) this.#soon();
    else this.#timer ??= setTimeout(() => this.#soon(), stock.reportMs);
  }

  /** A request of an endpoint's own pace has ended. */
  ended(): void {
    this.succeeded(0);
  }

  hold(ms: number): void {
    this.#limited();
    this.#holds.push(ms);
    this.#soon();
  }

  advise(by: string, rate: Rate): void {
    const known = this.#advised.get(by);
    if (known?.count === rate.count && known.perMs === rate.perMs) return;
    this.#advised.set(by, rate);
    this.#limited();
    this.#advice.push({ by, rate });
    this.#soon();
  }

  /** Slots granted before a sign of a limit count for nothing. */
  #limited(): void {
    this.#ahead = 0;
    this.#stock = [];
    this.#granted = { sinceMs: this.#clock.monotonic(), count: 0 };
  }

  #measure(count: number): void {
    if (this.#granted === null) return;
    const now = this.#clock.monotonic();
    this.#granted.count += count;
    const seconds = (now - this.#granted.sinceMs) / 1000;
    if (seconds < 1) return;
    const share = Math.floor((stock.share * this.#granted.count) / seconds);
    this.#ahead = Math.min(this.#mostAhead, share);
    this.#granted = { sinceMs: now, count: 0 };
  }

  #fromStock(): number | null {
    const now = this.#clock.monotonic();
    for (let [block] = this.#stock; block !== undefined; [block] = this.#stock) {
      const isStale = now - block.atMs > stock.staleMs;
      if (!isStale) block.count--;
      if (isStale || block.count === 0) this.#stock.shift();
      if (isStale) continue;
      if (2 * (this.#held + this.#asked) < this.#ahead) this.#soon();
      return block.ticket;
    }
    return null;
  }

  get #held(): number {
    return this.#stock.reduce((sum, { count }) => sum + count, 0);
  }

  #soon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(() => this.#send());
  }

  #send(): void {
    this.#isDue = false;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const missing = this.#queue.size + this.#ahead - this.#held - this.#asked;
    const take = Math.max(0, missing);
    this.#asked += take;
    this.#report({
      type: "outcomes",
      pace: this.#name,
      take,
      succeeded: [...this.#succeeded],
      throttled: this.#throttled,
      holds: this.#holds,
      advice: this.#advice,
    });
    this.#succeeded = new Map();
    this.#throttled = [];
    this.#holds = [];
    this.#advice = [];
  }
}
