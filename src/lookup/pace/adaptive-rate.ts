import { AcceptedRate } from "./accepted-rate.js";
import type { AdaptiveRateState } from "./limit-snapshot.js";
import { ThrottleNoise } from "./throttle-pauses.js";
import { ThrottleStrain } from "./throttle-strain.js";

/**
 * A cut: the fraction of the measured rate that remains, the time to climb back to it, and the minimum
 * time between cuts, so that the previous one can take effect.
 */
const cut = { to: 0.9, backMs: 2_000, apartMs: 500 };

/**
 * Beyond the last good rate, the climb doubles it in this time: `leastMs`, or so many times the wait
 * that the service asks for when the climb goes too far. Waits then take less than a tenth of the time.
 */
const doubled = { leastMs: 10_000, waits: 20, mostMs: 600_000 };

/**
 * A noise trial: its rate as a fraction of the last good one, and its maximum duration. A search below
 * the fraction `below` also serves as a trial.
 */
const trial = { at: 0.5, longestMs: 10_000, below: 0.9 };

/** Time in which the rate doubles while searching for a limit. */
const searchMs = 1_000;

/** Initial rate of a search in requests per second, unless more was accepted before. */
const searchFrom = 10;

/** Minimum rate in requests per second. */
const lowest = 1;

/** Timer lateness that is made up for, in milliseconds. */
const lateMs = 16;

/** A throttle answer as the search sees it. */
interface ThrottleAnswer {
  /** Number of pauses before its request was sent. */
  readonly ticket: number;
  /** Number of pauses so far; only a request sent after the last one is news. */
  readonly pauses: number;
  /** Wait that the service asks for, in milliseconds; 0 for none. */
  readonly waitMs: number;
}

/**
 * Finds the undeclared rate limit of a service. Nothing is limited until throttle answers accumulate;
 * then the rate is cut slightly below that of accepted answers, returns to it within seconds, stays
 * near, and probes beyond it ever faster. The climb resembles the cubic one of RFC 9438, as used by the
 * adaptive retries of the AWS SDKs, but its durations don't depend on the rate.
 */
export class AdaptiveRate {
  /** Last good rate in requests per second, as of the last cut; null while nothing is limited. */
  #known: number | null = null;
  /** Start of the climb: the last cut, or later by the waits since that the service asked for. */
  #cutAt = 0;
  /** True until a limit was hit twice: the first cut follows a burst, which says little. */
  #searching = true;
  #dueMs = Number.NEGATIVE_INFINITY;
  readonly #acceptedRate: AcceptedRate;
  readonly #strain: ThrottleStrain;
  /** Estimate of how many answers are throttled at any rate. */
  readonly noise: ThrottleNoise;
  /** Rate of accepted answers at the last cut, in requests per second. */
  #right = 0;
  /** Trial in progress: do throttle answers also arrive at a much lower rate? */
  #trying: "while searching" | "at half" | null = null;
  /** Last wait that the service asked for, in milliseconds; 0 if it asked for none. */
  #waitMs = 0;
  /** Number of pauses before the last cut: requests sent earlier say nothing about it. */
  #cutTicket = -1;

  readonly #isShared: boolean;

  /**
   * @param saved what was learned before; see `snapshot`
   * @param isShared whether several processes send
   */
  constructor(saved?: AdaptiveRateState, isShared = false) {
    this.#isShared = isShared;
    this.noise = new ThrottleNoise(saved?.noise);
    this.#strain = new ThrottleStrain(this.noise, saved);
    this.#acceptedRate = new AcceptedRate(saved?.accepted);
    if (saved === undefined) return;
    this.#known = saved.known;
    this.#cutAt = saved.cutAt;
    this.#searching = saved.searching;
    this.#dueMs = saved.cutAt;
    this.#right = saved.right;
    this.#trying = saved.trying;
    this.#waitMs = saved.waitMs;
    this.#cutTicket = saved.cutTicket;
  }

  snapshot(): AdaptiveRateState {
    return {
      known: this.#known,
      cutAt: this.#cutAt,
      searching: this.#searching,
      accepted: this.#acceptedRate.snapshot(),
      ...this.#strain.snapshot(),
      noise: this.noise.snapshot(),
      right: this.#right,
      trying: this.#trying,
      waitMs: this.#waitMs,
      cutTicket: this.#cutTicket,
    };
  }

  /** True once a limit was hit. */
  get limited(): boolean {
    return this.#known !== null;
  }

  /** Allowed requests per second; infinite while no limit is known. */
  rateAt(now: number): number {
    if (this.#known === null) return Number.POSITIVE_INFINITY;
    if (this.#trying === "at half") return Math.max(lowest, trial.at * this.#right);
    const since = Math.max(0, now - this.#cutAt);
    if (this.#searching) return this.#known * 2 ** (since / searchMs);
    const beyond = since - cut.backMs;
    const doubledMs = Math.min(
      doubled.mostMs,
      Math.max(doubled.leastMs, doubled.waits * this.#waitMs),
    );
    const part = beyond < 0 ? (1 - cut.to) * (beyond / cut.backMs) ** 3 : (beyond / doubledMs) ** 4;
    return Math.max(lowest, this.#known * (1 + part));
  }

  /** Milliseconds from `now` until the next request may start; 0 or less if immediately. */
  waitAt(now: number): number {
    return this.#known === null ? 0 : this.#dueMs - now;
  }

  /** Spends one request that starts at `now`. */
  spend(now: number): void {
    if (this.#known === null) return;
    const from = Math.max(this.#dueMs, now - lateMs);
    this.#dueMs = from + 1000 / this.rateAt(now);
  }

  /**
   * Reports an answer other than throttling.
   *
   * @param ticket number of pauses before its request was sent
   */
  accepted(now: number, ticket: number): void {
    this.#strain.answered(now, false);
    this.#acceptedRate.accepted(now);
    if (this.#trying !== null) this.#try(now, ticket, false);
  }

  /** Reports a throttle answer. */
  throttled(now: number, { ticket, pauses, waitMs }: ThrottleAnswer): void {
    this.#strain.answered(now, true);
    this.#waitMs = waitMs;
    if (this.#trying !== null) this.#try(now, ticket, true);
    if (this.#trying === "at half") return;
    if (this.#known !== null && now - this.#cutAt < cut.apartMs) return;
    // Many answers arrive after the one that began the pause.
    const isNews = this.#isShared ? ticket > this.#cutTicket : ticket === pauses;
    if (isNews && this.#isStrained(now)) this.#cut(now, ticket === pauses ? pauses : pauses - 1);
  }

  #isStrained(now: number): boolean {
    // Each wait costs as much as many throttle answers.
    if (this.#waitMs > 0 && !this.noise.known) return true;
    return this.#strain.isTooMuch(now, {
      limited: this.limited,
      searching: this.#searching,
      isShared: this.#isShared,
    });
  }

  /** Reports that nothing is sent from `now` until `until`. */
  paused(now: number, until: number): void {
    const moreMs = this.#acceptedRate.paused(now, until);
    // The rate must not climb during a long pause, in which nothing shows whether it is too high.
    if (this.#waitMs > 0) this.#cutAt += moreMs;
  }

  #cut(now: number, pauses: number): void {
    const rate = this.rateAt(now);
    // The first answers say little, and a cut that is too deep costs more than an extra one.
    const first = rate === Number.POSITIVE_INFINITY;
    const measured = this.#acceptedRate.at(now);
    this.#right = Math.min(rate, measured);
    this.#known = Math.max(
      lowest,
      first ? searchFrom : rate / 2,
      first ? measured / 2 : this.#right,
    );
    if (this.#trying !== null) this.noise.abandon();
    this.#trying = null;
    // If nothing was accepted at all, half of it would say nothing.
    if (measured > 0 && this.noise.try(now)) this.#trying = first ? "while searching" : "at half";
    this.#begin(now, first);
    this.#cutTicket = pauses;
  }

  #begin(now: number, searching: boolean): void {
    this.#searching = searching;
    this.#cutAt = now;
    this.#dueMs = now;
    this.#strain.clear();
  }

  #try(now: number, ticket: number, throttled: boolean): void {
    if (ticket > this.#cutTicket) {
      const verdict = this.noise.answered(now, throttled);
      if (verdict === "noise") {
        // The cut didn't help.
        this.#known = Math.max(this.#known ?? lowest, this.rateAt(now));
        this.#begin(now, true);
      }
      if (verdict !== "open") return this.#endTrial(now);
    }
    if (this.#trying === "at half") {
      if (now - this.#cutAt < trial.longestMs) return;
      this.noise.interrupt(now);
    } else {
      if (this.rateAt(now) < trial.below * this.#right) return;
      this.noise.abandon();
    }
    this.#endTrial(now);
  }

  #endTrial(now: number): void {
    if (this.#trying === "at half" && !this.#searching) this.#begin(now, false);
    this.#trying = null;
  }
}
