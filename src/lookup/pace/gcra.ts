import type { Rate } from "../../core/options.js";

/** Maximum number of requests in any second, as a multiple of the rate; bounds the catch-up. */
const mostInASecond = 1.05;

/** Speed of the catch-up as a multiple of the rate, and the maximum backlog it makes up for. */
const catchUp = { speed: 1.02, longestMs: 500 };

/**
 * Timer lateness in milliseconds that is made up for at once. Together with the speed above, it leaves
 * part of the 5% for shifts by connections and the network.
 */
const atOnceMs = 16;

/** After this long without a request, and at the start, there is no backlog to catch up with. */
const idleMs = 1_000;

/**
 * The first request after that opens a connection and may arrive this much later than it was sent; the
 * following requests keep that distance so that they don't arrive together.
 */
const leadMs = 40;

/** Windows of at least this length are never exceeded, not even to catch up. */
const longWindowMs = 10_000;

/**
 * The generic cell rate algorithm for one window (ITU-T I.371, annex A). Requests are spaced evenly, so
 * no window edge lets two windows' worth through. A late request doesn't delay those behind it: two
 * cells, one at the rate with a wide tolerance and a slightly faster one with a narrow tolerance, allow
 * catching up, while no second has more than 105% of the rate in whole requests. Rates below 20 per
 * second are never exceeded.
 */
export class Gcra {
  readonly #average: Cell;
  readonly #fast: Cell;
  readonly #leadMs: number;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor({ count, perMs }: Rate) {
    const evenMs = perMs / count;
    const inASecond = Math.floor((mostInASecond * 1000) / evenMs);
    // If 5% is only a few requests, using them all would leave no room for late timers.
    const leastMs = (1000 + atOnceMs) / inASecond;
    const fastMs = Math.min(evenMs, Math.max(evenMs / catchUp.speed, leastMs));
    // Below 20 per second, 5% is less than one request.
    const room = inASecond * fastMs - 1000;
    const tolerance = Math.min(atOnceMs, Math.max(0, room));
    const longest = room <= 0 ? 0 : perMs >= longWindowMs ? tolerance : catchUp.longestMs;
    // Over a long window the catch-up is saved up in advance, at almost no cost.
    const saved = perMs >= longWindowMs ? longest : 0;
    this.#average = new Cell((perMs + saved) / count, longest);
    this.#fast = new Cell(fastMs, tolerance);
    this.#leadMs = room <= 0 ? 0 : leadMs;
  }

  /** Milliseconds from `now` until the next request may start; 0 or less if immediately. */
  waitAt(now: number): number {
    return Math.max(this.#average.waitAt(now), this.#fast.waitAt(now));
  }

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
  /** Theoretical time of the next request, in milliseconds of the caller's clock. */
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

  /** Clears the backlog at `now`. */
  start(now: number): void {
    this.#dueMs = Math.max(this.#dueMs, now + this.#toleranceMs);
  }
}
