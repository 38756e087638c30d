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
