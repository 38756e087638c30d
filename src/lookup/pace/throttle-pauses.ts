import type { ThrottleNoiseState, ThrottlePausesState } from "./limit-snapshot.js";

/** First and longest pause after a throttle answer without `Retry-After`, and the random extra. */
const pauseMs = { first: 1_000, longest: 60_000, spread: 0.25 };

/** Minimum pause once a limit is known: a small bucket refills, a window ends. */
const refillMs = 40;

/** Share of throttle answers from which pauses have full length, and the sample size. */
const strain = { full: 0.25, answers: 256 };

/** What is known about the limit behind a throttle answer. */
export type LimitKnowledge = "none" | "searched" | "found";

/**
 * Length of pauses after throttle answers without `Retry-After`. Doubles from pause to pause, and is
 * shorter if throttle answers are rare, as with one sick server behind a load balancer.
 */
export class ThrottlePauses {
  readonly #random: () => number;
  /** Pauses since the last answer other than throttling. */
  #streak = 0;
  /** Recent answers, and how many of them were throttled. */
  readonly #late = { answers: 0, throttled: 0 };

  /**
   * @param random random numbers from 0 (inclusive) to 1
   * @param saved counts to continue from; see `snapshot`
   */
  constructor(random: () => number, saved?: ThrottlePausesState) {
    this.#random = random;
    if (saved === undefined) return;
    this.#streak = saved.streak;
    this.#late.answers = saved.answers;
    this.#late.throttled = saved.throttled;
  }

  snapshot(): ThrottlePausesState {
    return { streak: this.#streak, ...this.#late };
  }

  /** Pauses since the last answer other than throttling. */
  get streak(): number {
    return this.#streak;
  }

  /** Reports an answer. */
  answered(throttled: boolean): void {
    const late = this.#late;
    if (late.answers >= strain.answers) {
      late.answers /= 2;
      late.throttled /= 2;
    }
    late.answers++;
    if (throttled) late.throttled++;
  }

  /** Reports the start of a pause. */
  begun(): void {
    this.#streak++;
  }

  /** Reports that all pauses but the latest `butLatest` were long enough. */
  sufficed(butLatest: number): void {
    this.#streak = Math.min(this.#streak, butLatest);
  }

  /** Length of the next pause, in milliseconds. */
  next(limit: LimitKnowledge): number {
    const { first, longest, spread } = pauseMs;
    const share = this.#late.throttled / this.#late.answers / strain.full;
    // With an adaptive rate, a pause only has to let a window or a bucket recover.
    const shortest = limit === "none" ? first : first / 4;
    const least = limit === "found" ? refillMs : shortest * Math.min(1, share * share);
    return Math.min(longest, least * 2 ** this.#streak) * (1 + spread * this.#random());
  }
}

/** Share of throttle answers far below any limit, of a noisy and of a quiet service. */
const assumed = { noisy: 0.03, quiet: 0.005 };

/** Weight of each answer, and the sums that decide for noise or against it (Wald's sequential test). */
const weight = {
  throttled: Math.log(assumed.noisy / assumed.quiet),
  accepted: Math.log((1 - assumed.noisy) / (1 - assumed.quiet)),
  noise: 3.4,
  none: -2,
};

/** Standard deviations above the expected number that may still be chance. */
const chance = 2;

/** Number of answers that moves an estimate half the way down. */
const fewest = 200;

/** Delay until the next trial after one that found no noise, and its growth. */
const againMs = { first: 10_000, times: 2, longest: 300_000 };

/** Delay until an interrupted trial continues. */
const continuedMs = 1_000;

/** Initial counts of a trial. */
const nothing = { evidence: 0, answers: 0, throttles: 0 };

/** Result of a trial: `open` while undecided. */
export type TrialResult = "noise" | "none" | "open";

/**
 * Estimates how many answers are throttled at any rate, as by one sick server behind a load balancer;
 * slowing down for their sake helps nobody. A trial counts them far below the last good rate.
 */
export class ThrottleNoise {
  #share = 0;
  #trying = false;
  #trial = { ...nothing };
  /** True if the last answer was throttled: one exhausted window throttles many in a row. */
  #inRow = false;
  #notBefore = Number.NEGATIVE_INFINITY;
  #againMs = againMs.first;

  /** @param saved an estimate to continue from; see `snapshot` */
  constructor(saved?: ThrottleNoiseState) {
    if (saved === undefined) return;
    this.#share = saved.share;
    this.#trying = saved.trying;
    this.#trial = { ...saved.trial };
    this.#inRow = saved.inRow;
    this.#notBefore = saved.notBefore ?? Number.NEGATIVE_INFINITY;
    this.#againMs = saved.againMs;
  }

  snapshot(): ThrottleNoiseState {
    return {
      share: this.#share,
      trying: this.#trying,
      trial: { ...this.#trial },
      inRow: this.#inRow,
      notBefore: Number.isFinite(this.#notBefore) ? this.#notBefore : null,
      againMs: this.#againMs,
    };
  }

  /** True if a trial found noise that hasn't gone since. */
  get known(): boolean {
    return this.#share > assumed.quiet;
  }

  /** True if the last two trials found none: one in seven does so by chance. */
  get ruledOut(): boolean {
    return this.#againMs >= againMs.first * againMs.times ** 2;
  }

  /** True for some time after a trial that found no noise. */
  absentAt(now: number): boolean {
    return this.#share === 0 && now < this.#notBefore && this.#againMs > againMs.first;
  }

  /** Starts a trial, unless one has just found nothing. */
  try(now: number): boolean {
    if (now < this.#notBefore) return false;
    this.#trying = true;
    this.#inRow = true;
    return true;
  }

  /** Interrupts the trial; the next one continues from its counts. */
  interrupt(now: number): void {
    this.#trying = false;
    this.#notBefore = now + continuedMs;
  }

  /** Aborts the trial and discards its counts. */
  abandon(): void {
    this.#trying = false;
    this.#trial = { ...nothing };
  }

  /** Reports an answer to a request sent during the trial. */
  answered(now: number, throttled: boolean): TrialResult {
    if (!this.#trying) return "open";
    const trial = this.#trial;
    trial.answers++;
    const counts = throttled && !this.#inRow;
    this.#inRow = throttled;
    if (counts) trial.throttles++;
    if (counts) trial.evidence += weight.throttled;
    else if (!throttled) trial.evidence += weight.accepted;
    if (trial.evidence < weight.noise && trial.evidence > weight.none) return "open";
    this.#trying = false;
    this.#trial = { ...nothing };
    const noisy = trial.evidence >= weight.noise;
    if (noisy && trial.throttles > this.expected(trial.answers)) {
      this.#againMs = againMs.first;
      this.#share = trial.throttles / trial.answers;
      return "noise";
    }
    if (noisy) {
      // The known share may be too high by now: a limit has replaced the noise.
      this.#share = Math.min(this.#share, trial.throttles / trial.answers);
      this.#notBefore = now + againMs.first;
      return "none";
    }
    this.#share = 0;
    this.#notBefore = now + this.#againMs;
    this.#againMs = Math.min(againMs.times * this.#againMs, againMs.longest);
    return "none";
  }

  /** Reports how many recent answers were throttled: the noise cannot exceed that. */
  atMost(throttles: number, answers: number): void {
    if (throttles >= this.#share * answers) return;
    this.#share += (throttles / answers - this.#share) * (answers / (answers + fewest));
  }

  /** How many of `answers` may be noise. */
  expected(answers: number): number {
    const mean = this.#share * answers;
    return mean + chance * Math.sqrt(mean);
  }
}
