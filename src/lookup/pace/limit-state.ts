import { AdaptiveRate, type LearnedRate } from "./adaptive-rate.js";
import type { Throttling } from "./request-pace.js";

/** First and longest pause after a throttle answer without `Retry-After`, and the random extra. */
const pauses = { firstMs: 40, longestMs: 60_000, spread: 0.25 };

/**
 * What throttle answers say about a service: pauses, and the rate that it accepts. Times are
 * milliseconds of any one clock.
 */
export class LimitState {
  /** Number of pauses so far. Tells whether an answered request was sent before the last pause. */
  ticket = 0;
  /** Ticket of the last request that was accepted. */
  good = 0;
  pausedUntil = Number.NEGATIVE_INFINITY;
  /** Number of requests sent so far. */
  sent = 0;
  /** Time in which the rate was not used up. */
  idleMs = 0;
  readonly #rate = new AdaptiveRate(() => this.sent);
  readonly #random: () => number;

  /** @param random random numbers from 0 (inclusive) to 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  get learned(): LearnedRate {
    return this.#rate.learned;
  }

  set learned(learned: LearnedRate) {
    this.#rate.learned = learned;
  }

  /** What throttle answers have shown so far. */
  get throttling(): Throttling {
    if (this.ticket === 0) return "none";
    return this.#rate.isFound ? "found" : "unclear";
  }

  /** Allowed requests per second; infinite while no limit is known. */
  rateAt(now: number): number {
    return this.#rate.rateAt(now - this.idleMs);
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for, or null
   * @returns whether it asks for a pause
   */
  throttled(now: number, afterMs: number | null, ticket: number): boolean {
    const isMuch = this.#rate.throttled(now - this.idleMs, ticket, this.ticket, afterMs ?? 0);
    const isNews = ticket === this.ticket;
    if (afterMs === null && !(isNews && isMuch)) return false;
    this.hold(now, afterMs ?? this.#pauseMs(ticket - this.good));
    if (isNews) this.ticket++;
    return true;
  }

  /** Reports any other answer. Returns whether something was learned. */
  succeeded(now: number, ticket: number): boolean {
    this.good = Math.max(this.good, ticket);
    return this.#rate.accepted(now - this.idleMs, ticket);
  }

  /** Nothing is sent for `ms` milliseconds. */
  hold(now: number, ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, now + ms);
  }

  /** @param streak number of pauses since a request was sent that was accepted */
  #pauseMs(streak: number): number {
    const ms = Math.min(pauses.longestMs, pauses.firstMs * 2 ** streak);
    return ms * (1 + pauses.spread * this.#random());
  }
}
