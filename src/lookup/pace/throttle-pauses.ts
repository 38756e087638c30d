/** First, longest and how much longer at random: pauses after a throttle answer without a wish. */
const pauseMs = { first: 1_000, longest: 60_000, spread: 0.25 };

/** Least pause where a limit is known: a small bucket fills, the end of a window is passed. */
const refillMs = 40;

/** The share of throttle answers from which on pauses have their full length, by so many answers. */
const strain = { full: 0.25, answers: 256 };

/** What is known of the limit whose excess was throttled. */
export type LimitKnowledge = "none" | "searched" | "found";

/**
 * How long nothing leaves after a throttle answer that does not say so itself: twice as long from one
 * pause to the next, and shorter where such answers are few among others, as behind a load balancer of
 * whose many servers one is ill.
 */
export class ThrottlePauses {
  readonly #random: () => number;
  /** Pauses since the last answer that was none of throttling. */
  #streak = 0;
  /** Answers of late, and those of throttling among them. */
  readonly #late = { answers: 0, throttled: 0 };

  /** @param random numbers from 0 to below 1 */
  constructor(random: () => number) {
    this.#random = random;
  }

  /** Pauses since the last answer that was none of throttling. */
  get streak(): number {
    return this.#streak;
  }

  /** Takes note of an answer. */
  answered(throttled: boolean): void {
    const late = this.#late;
    if (late.answers >= strain.answers) {
      late.answers /= 2;
      late.throttled /= 2;
    }
    late.answers++;
    if (throttled) late.throttled++;
  }

  /** A pause begins. */
  begun(): void {
    this.#streak++;
  }

  /** All pauses but the latest so many were long enough. */
  sufficed(butLatest: number): void {
    this.#streak = Math.min(this.#streak, butLatest);
  }

  /** Length of the pause that is due, in milliseconds. */
  next(limit: LimitKnowledge): number {
    const { first, longest, spread } = pauseMs;
    const share = this.#late.throttled / this.#late.answers / strain.full;
    // Where the rate adapts, a pause has only to let a window or a bucket recover.
    const shortest = limit === "none" ? first : first / 4;
    const least = limit === "found" ? refillMs : shortest * Math.min(1, share * share);
    return Math.min(longest, least * 2 ** this.#streak) * (1 + spread * this.#random());
  }
}

/** Shares of throttle answers, far below a limit: of a service that has noise, and of one that has none. */
const assumed = { noisy: 0.03, quiet: 0.005 };

/** What an answer tells, and from where on the sum is taken for noise or for none (Wald's test). */
const weight = {
  throttled: Math.log(assumed.noisy / assumed.quiet),
  accepted: Math.log((1 - assumed.noisy) / (1 - assumed.quiet)),
  noise: 3.4,
  none: -2,
};

/** So many standard deviations more than expected may be chance. */
const chance = 2;

/** So many answers move an estimate half the way down. */
const fewest = 200;

/** Until the next trial after one that found none, in milliseconds, and how much longer each time. */
const againMs = { first: 10_000, times: 2, longest: 300_000 };

/** What a trial begins with. */
const nothing = { evidence: 0, answers: 0, throttles: 0 };

/** What a trial says: `open` where it cannot say yet. */
export type Verdict = "noise" | "none" | "open";

/**
 * How many answers are throttled whatever the rate, as by a load balancer one of whose servers is ill.
 * Asking more slowly for their sake helps nobody. A trial counts them far below the rate that was
 * right before.
 */
export class ThrottleNoise {
  #share = 0;
  #trying = false;
  #trial = { ...nothing };
  /** True when the last answer was throttled: one window that is used up throttles many in a row. */
  #inRow = false;
  #notBefore = Number.NEGATIVE_INFINITY;
  #againMs = againMs.first;

  /** True where a trial found noise that has not gone since. */
  get known(): boolean {
    return this.#share > assumed.quiet;
  }

  /** Begins a trial, unless one found nothing just now. */
  try(now: number): boolean {
    if (now < this.#notBefore) return false;
    this.#trying = true;
    this.#inRow = true;
    return true;
  }

  /** Pauses; the next trial continues from what was found so far. */
  interrupt(now: number): void {
    this.#trying = false;
    this.#notBefore = now + againMs.first;
  }

  /** Breaks off and forgets what was found. */
  abandon(): void {
    this.#trying = false;
    this.#trial = { ...nothing };
  }

  /** Notes an answer to a request that left after the trial began. */
  answered(now: number, throttled: boolean): Verdict {
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
      // What is known may be more than there is by now: a limit has taken the place of the noise.
      this.#share = Math.min(this.#share, trial.throttles / trial.answers);
      this.#notBefore = now + againMs.first;
      return "none";
    }
    this.#share = 0;
    this.#notBefore = now + this.#againMs;
    this.#againMs = Math.min(againMs.times * this.#againMs, againMs.longest);
    return "none";
  }

  /** So many of the answers of late were throttled: noise is no more than that. */
  atMost(throttles: number, answers: number): void {
    if (throttles >= this.#share * answers) return;
    this.#share += (throttles / answers - this.#share) * (answers / (answers + fewest));
  }

  /** So many of the answers may be noise. */
  expected(answers: number): number {
    const mean = this.#share * answers;
    return mean + chance * Math.sqrt(mean);
  }
}
