import pLimit, { type LimitFunction } from "p-limit";
import { AbortGroups } from "../../api/http/transport.js";
import type { Rate } from "../../core/options.js";
import type { AttemptWrapper } from "../types.js";

export interface SlotsOptions {
  /** Most attempts open at once, 1 or more. */
  readonly concurrency: number;
  /** How many more may queue in front of the connections once all of those are open. Default none. */
  readonly ahead?: number | undefined;
}

/** Least number of waiting attempts at which it is crowded, so that no slot is empty meanwhile. */
const leastCrowd = 16;

/**
 * Bounds how many attempts are open at once, over all endpoints.
 *
 * Attempts that queue ahead have left the pace already, so this is for services that show no limit:
 * it begins with the first good answer, and the first sign of a limit ends it for the rest of the run.
 */
export class Slots {
  readonly #concurrency: number;
  readonly #ahead: number;
  readonly #crowdedFrom: number;
  readonly #limit: LimitFunction;
  readonly #aborts = new AbortGroups();
  #showsLimit = false;
  #crowded = false;
  #onRoom: () => void = () => undefined;

  constructor({ concurrency, ahead = 0 }: SlotsOptions) {
    this.#concurrency = concurrency;
    this.#ahead = ahead;
    this.#crowdedFrom = Math.max(leastCrowd, concurrency + ahead);
    this.#limit = pLimit(concurrency);
  }

  /** The service gave a good answer. */
  answered(): void {
    const most = this.#concurrency + this.#ahead;
    if (!this.#showsLimit && this.#limit.concurrency !== most) this.#limit.concurrency = most;
  }

  /** The service shows that it has a limit. */
  limited(): void {
    this.#showsLimit = true;
    this.#limit.concurrency = this.#concurrency;
  }

  /**
   * True from when enough attempts wait until half of them do: no more rows need to be begun. What is
   * begun early is out of the processor's cache when its turn comes, which costs a tenth of the time.
   */
  get crowded(): boolean {
    return this.#crowded;
  }

  /** Tells one listener, the latest, each time that `crowded` turns false. */
  onRoom(listener: () => void): void {
    this.#onRoom = listener;
  }

  /** Makes attempts take a slot. One that waits for its turn ends at once when its signal aborts. */
  readonly limit: AttemptWrapper = (next) => (item, options) => {
    const { signal } = options;
    if (signal.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      let isWaiting = true;
      const leave = this.#aborts.join(signal, {
        abort: (reason) => {
          isWaiting = false;
          leave();
          reject(reason);
        },
      });
      const turn = async (): Promise<void> => {
        this.#noteWaiting();
        if (!isWaiting) return;
        leave();
        resolve(await next(item, options));
      };
      this.#limit(turn).catch(reject);
      this.#noteWaiting();
    });
  };

  #noteWaiting(): void {
    const waiting = this.#limit.pendingCount;
    if (waiting >= this.#crowdedFrom) {
      this.#crowded = true;
    } else if (this.#crowded && 2 * waiting <= this.#crowdedFrom) {
      this.#crowded = false;
      this.#onRoom();
    }
  }
}

/** The most that may begin in a second, of the rate: what is late is caught up with until then. */
const mostInASecond = 1.05;

/** What was missed is caught up with at so much of the rate, until no more than `longestMs` of it. */
const catchUp = { speed: 1.02, longestMs: 500 };

/**
 * What timers come late by is caught up with at once, up to this, in milliseconds. With the speed
 * above it leaves some of the 5% to what connections and the network shift.
 */
const atOnceMs = 16;

/**
 * After so long without a request, and at the start, nothing is caught up with: there was nothing to
 * be late with.
 */
const idleMs = 1_000;

/**
 * The first request after that opens a connection and arrives so much later than it left, at the
 * most; those behind it give it as much of a lead, lest they arrive together.
 */
const leadMs = 40;

/** Windows of this length and more are kept to the last request, whatever is caught up with. */
const longWindowMs = 10_000;

/**
 * The generic cell rate algorithm for one window (ITU-T I.371, annex A): requests leave evenly, so
 * no window has an edge at which two windows' worth could leave together. Late ones do not delay
 * those behind them: two cells, one of the rate with a wide tolerance and one somewhat faster with
 * a narrow one, let what was missed be made up for, while in no second more than the rate and 5% of
 * it, counted in whole requests, begin. Rates below 20 a second are never exceeded at all.
 */
export class Gcra {
  readonly #average: Cell;
  readonly #fast: Cell;
  readonly #leadMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor({ count, perMs }: Rate) {
    const evenMs = perMs / count;
    const inASecond = Math.floor((mostInASecond * 1000) / evenMs);
    // Where the 5% are few requests, one fast enough to use them up would leave no room for late timers.
    const leastMs = (1000 + atOnceMs) / inASecond;
    const fastMs = Math.min(evenMs, Math.max(evenMs / catchUp.speed, leastMs));
    // Fewer than 20 a second leave no room for one more.
    const room = inASecond * fastMs - 1000;
    const tolerance = Math.min(atOnceMs, Math.max(0, room));
    const longest = room <= 0 ? 0 : perMs >= longWindowMs ? tolerance : catchUp.longestMs;
    // Over a long window the catch-up is saved up beforehand, which costs next to nothing.
    const saved = perMs >= longWindowMs ? longest : 0;
    this.#average = new Cell((perMs + saved) / count, longest);
    this.#fast = new Cell(fastMs, tolerance);
    this.#leadMs = room <= 0 ? 0 : leadMs;
  }

  /** Milliseconds from `now` until the next request may begin; 0 or less when it may at once. */
  waitAt(now: number): number {
    return Math.max(this.#average.waitAt(now), this.#fast.waitAt(now));
  }

  /** Spends one request that begins at `now`. */
  spend(now: number): void {
    if (now - this.#lastMs > idleMs) {
      this.#average.start(now);
      this.#fast.start(now + this.#leadMs);
    }
    this.#lastMs = now;
    this.#average.spend(now);
    this.#fast.spend(now);
  }
}

class Cell {
  readonly #intervalMs: number;
  readonly #toleranceMs: number;
  /** When the next request is due in theory, in milliseconds of the caller's clock. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor(intervalMs: number, toleranceMs: number) {
    this.#intervalMs = intervalMs;
    this.#toleranceMs = toleranceMs;
  }

  waitAt(now: number): number {
    return this.#dueMs - this.#toleranceMs - now;
  }

  spend(now: number): void {
    this.#dueMs = Math.max(this.#dueMs, now) + this.#intervalMs;
  }

  /** Nothing is left to be caught up with from `now` on. */
  start(now: number): void {
    this.#dueMs = Math.max(this.#dueMs, now + this.#toleranceMs);
  }
}
