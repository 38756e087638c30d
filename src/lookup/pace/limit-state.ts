import { AdaptiveRate } from "./adaptive-rate.js";
import type { Throttling } from "./request-pace.js";
import type { LimitSnapshot } from "./limit-snapshot.js";
import { type LimitKnowledge, ThrottlePauses } from "./throttle-pauses.js";

/** Requests that test whether a pause was long enough, and the interval of more if none is answered. */
const probes = { atOnce: 2, apartMs: 1_000 };

export interface LimitStateOptions {
  /** Whether to learn an undeclared limit from throttle answers; otherwise only pause. */
  readonly adaptive: boolean;
  /** Whether several processes send. @default false */
  readonly isShared?: boolean;
  /** Random numbers from 0 (inclusive) to 1. */
  readonly random: () => number;
}

/** What throttle answers say about a service: pauses, probes after them, and the rate it accepts. */
export class LimitState {
  readonly adaptive: AdaptiveRate | null;
  readonly #pauses: ThrottlePauses;
  #ticket = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  /**
   * After a pause, until an answer proves it long enough: the number of requests sent since and the time
   * of the last one.
   */
  #probe: { left: number; lastMs: number } | null = null;

  constructor({ adaptive, isShared, random }: LimitStateOptions, saved?: LimitSnapshot) {
    this.adaptive = adaptive ? new AdaptiveRate(saved?.adaptive ?? undefined, isShared) : null;
    this.#pauses = new ThrottlePauses(random, saved?.pauses);
    if (saved === undefined) return;
    this.#ticket = saved.ticket;
    this.#pausedUntil = saved.pausedUntil ?? Number.NEGATIVE_INFINITY;
    if (saved.probing) this.#probe = { left: 0, lastMs: 0 };
  }

  /** Number of pauses so far. Tells whether an answered request was sent before the last pause. */
  get ticket(): number {
    return this.#ticket;
  }

  /** What throttle answers have shown so far. */
  get throttling(): Throttling {
    if (this.#ticket === 0) return "none";
    return this.#limit === "found" && this.adaptive?.noise.ruledOut ? "found" : "unclear";
  }

  get pausedUntil(): number {
    return this.#pausedUntil;
  }

  /** Whether the end of the last pause still has to prove itself. */
  get probing(): boolean {
    return this.#probe !== null;
  }

  /** Milliseconds from `now` until the next request may start; 0 or less if immediately. */
  waitAt(now: number): number {
    const wait = Math.max(this.#pausedUntil - now, this.adaptive?.waitAt(now) ?? 0);
    if (this.#probe === null || this.#probe.left < probes.atOnce) return wait;
    return Math.max(wait, this.#probe.lastMs + probes.apartMs - now);
  }

  /** Spends one request that starts at `now`. */
  spend(now: number): void {
    this.adaptive?.spend(now);
    if (this.#probe === null) return;
    this.#probe.left++;
    this.#probe.lastMs = now;
  }

  /**
   * Reports a throttle answer: nothing is sent until the service may have recovered.
   *
   * @param afterMs wait that the service asked for, or null
   */
  throttled(now: number, afterMs: number | null, ticket: number): void {
    this.#pauses.answered(true);
    const known = ticket !== this.#ticket;
    this.adaptive?.throttled(now, { ticket, pauses: this.#ticket, waitMs: afterMs ?? 0 });
    if (known && afterMs === null) return;
    this.hold(now, afterMs ?? this.#pauses.next(this.#limit));
    if (known) return;
    this.#pauses.begun();
    this.#ticket++;
    if (this.adaptive?.limited && this.#pauses.streak > 1) this.#probe = { left: 0, lastMs: now };
  }

  /** Reports any other answer. True if it proves the last pause long enough. */
  succeeded(now: number, ticket: number): boolean {
    this.#pauses.answered(false);
    this.adaptive?.accepted(now, ticket);
    // The pauses before this request were long enough.
    this.#pauses.sufficed(this.#ticket - ticket);
    if (this.#probe === null || ticket !== this.#ticket) return false;
    this.#probe = null;
    return true;
  }

  /** Nothing is sent for `ms` milliseconds. */
  hold(now: number, ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.adaptive?.paused(now, now + ms);
  }

  snapshot(): LimitSnapshot {
    return {
      ticket: this.#ticket,
      pausedUntil: Number.isFinite(this.#pausedUntil) ? this.#pausedUntil : null,
      probing: this.probing,
      adaptive: this.adaptive?.snapshot() ?? null,
      pauses: this.#pauses.snapshot(),
    };
  }

  get #limit(): LimitKnowledge {
    if (this.adaptive === null) return "none";
    return this.adaptive.limited && !this.adaptive.noise.known ? "found" : "searched";
  }
}
