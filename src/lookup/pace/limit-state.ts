import { AdaptiveRate } from "./adaptive-rate.js";
import type { Throttling } from "./request-pace.js";

/** First and longest pause after a throttle answer without `Retry-After`, and the random extra. */
const pauses = { firstMs: 40, longestMs: 60_000, spread: 0.25 };

/** Timer lateness that is made up for, in milliseconds. */
const lateMs = 16;

/**
 * Length of a pause after a throttle answer without `Retry-After`.
 *
 * @param streak number of pauses before it, since a request was sent that was accepted
 * @param random from 0 (inclusive) to 1
 */
export function pauseMs(streak: number, random: number): number {
  const ms = Math.min(pauses.longestMs, pauses.firstMs * 2 ** streak);
  return ms * (1 + pauses.spread * random);
}

/** What throttle answers show. */
export function shownBy(rate: AdaptiveRate, ticket: number): Throttling {
  if (ticket === 0) return "none";
  return rate.isFound ? "found" : "unclear";
}

/** What throttle answers say about a service: pauses, and the rate that it accepts. */
export class LimitState {
  readonly #rate = new AdaptiveRate(() => this.#sent);
  readonly #random: () => number;
  #ticket = 0;
  /** Ticket of the last request that was accepted. */
  #good = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #sent = 0;
  #dueMs = 0;
  /** Time in which the rate was not used up. */
  #idleMs = 0;

  /** @param random random numbers from 0 (inclusive) to 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Number of pauses so far. Tells whether an answered request was sent before the last pause. */
  get ticket(): number {
    return this.#ticket;
  }

  get throttling(): Throttling {
    return shownBy(this.#rate, this.#ticket);
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Milliseconds from `now` until the next request may start; 0 or less if immediately. */
  waitAt(now: number): number {
    return Math.max(this.#pausedUntil, this.#dueMs) - now;
  }

  spend(now: number): void {
    this.#sent++;
    const rate = this.#rate.rateAt(now - this.#idleMs);
    if (rate === Number.POSITIVE_INFINITY) {
      this.#dueMs = now;
      return;
    }
    const late = Math.max(0, now - lateMs - this.#dueMs);
    this.#idleMs += late;
    this.#dueMs += late + 1000 / rate;
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(now: number, afterMs: number | null, ticket: number): void {
    const isMuch = this.#rate.throttled(now - this.#idleMs, ticket, this.#ticket, afterMs ?? 0);
    const isNews = ticket === this.#ticket;
    if (afterMs === null && !(isNews && isMuch)) return;
    this.hold(now, afterMs ?? pauseMs(ticket - this.#good, this.#random()));
    if (isNews) this.#ticket++;
  }

  succeeded(now: number, ticket: number): void {
    this.#good = Math.max(this.#good, ticket);
    this.#rate.accepted(now - this.#idleMs, ticket);
  }

  hold(now: number, ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
  }
}
