import type { Rate } from "../core/options.js";

/** What timers come late by is caught up with, up to this, in milliseconds. */
const longestCatchUpMs = 30;

/** How much of its rate may begin in a second because of that. */
const burst = 1.05;

/** Windows of this length and more are kept to the last request, whatever is caught up with. */
const longWindowMs = 10_000;

/**
 * The generic cell rate algorithm for one window (ITU-T I.371, annex A): requests leave evenly, so
 * no window has an edge at which two windows' worth could leave together. A late one does not delay
 * those behind it, within a tolerance so small that in no second more than the rate and 5% of it,
 * counted in whole requests, begin: rates below 20 a second are never exceeded at all.
 */
export class Gcra {
  readonly #intervalMs: number;
  readonly #catchUpMs: number;
  /** When the next request is due in theory, in milliseconds of the caller's clock. */
  #dueMs = Number.NEGATIVE_INFINITY;

  constructor({ count, perMs }: Rate) {
    this.#catchUpMs = catchUpMs(perMs / count);
    // Over a long window the catch-up is saved up beforehand, which costs next to nothing.
    const saved = perMs >= longWindowMs ? this.#catchUpMs : 0;
    this.#intervalMs = (perMs + saved) / count;
  }

  /** Milliseconds from `now` until the next request may begin; 0 or less when it may at once. */
  waitAt(now: number): number {
    return this.#dueMs - this.#catchUpMs - now;
  }

  /** Spends one request that begins at `now`. */
  spend(now: number): void {
    this.#dueMs = Math.max(this.#dueMs, now) + this.#intervalMs;
  }
}

/** As much as keeps every second within `burst`. */
function catchUpMs(intervalMs: number): number {
  const inOneSecond = Math.floor((burst * 1000) / intervalMs) * intervalMs;
  return Math.min(longestCatchUpMs, Math.max(0, inOneSecond - 1000));
}
