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
