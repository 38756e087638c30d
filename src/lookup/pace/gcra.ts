import type { Rate } from "../../core/options.js";

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
