import type { AdaptiveRateState } from "./limit-snapshot.js";
import type { ThrottleNoise } from "./throttle-pauses.js";

/**
 * Share and least number of throttle answers that make a limit; `quiet` while there is no noise. Each
 * hit of a limit that several processes share costs more of them, so `shared` cuts at the first one.
 */
const strained = {
  share: 0.035,
  whileSearching: 0.02,
  shared: 0.015,
  quiet: 0.01,
  least: 3,
  few: 10,
};

/** Period after which half of the counts is forgotten. */
const forgetMs = 1_000;

/** What else counts besides the answers. */
export interface StrainContext {
  /** Whether a limit was hit before. */
  readonly limited: boolean;
  readonly searching: boolean;
  readonly isShared: boolean;
}

/** Counts recent answers, and tells whether throttling is more than chance or noise. */
export class ThrottleStrain {
  readonly #noise: ThrottleNoise;
  #answers: number;
  #throttles: number;
  #notedAt: number;

  /** @param saved counts to continue from; see `snapshot` */
  constructor(noise: ThrottleNoise, saved?: AdaptiveRateState) {
    this.#noise = noise;
    this.#answers = saved?.answers ?? 0;
    this.#throttles = saved?.throttles ?? 0;
    this.#notedAt = saved?.notedAt ?? 0;
  }

  snapshot(): Pick<AdaptiveRateState, "answers" | "throttles" | "notedAt"> {
    return { answers: this.#answers, throttles: this.#throttles, notedAt: this.#notedAt };
  }

  /** Reports an answer. */
  answered(now: number, throttled: boolean): void {
    if (now - this.#notedAt >= forgetMs) {
      this.#notedAt = now;
      this.#noise.atMost(this.#throttles, this.#answers);
      this.#answers /= 2;
      this.#throttles /= 2;
    }
    this.#answers++;
    if (throttled) this.#throttles++;
  }

  clear(): void {
    this.#answers = 0;
    this.#throttles = 0;
  }

  /** Whether throttle answers are more than chance or noise. */
  isTooMuch(now: number, { limited, searching, isShared }: StrainContext): boolean {
    const enough = this.#throttles >= strained.least || this.#answers < strained.few;
    const found = isShared ? strained.shared : strained.share;
    const usual = limited ? (searching ? strained.whileSearching : found) : strained.share;
    const share = this.#noise.absentAt(now) ? strained.quiet : usual;
    const beyond = this.#throttles - this.#noise.expected(this.#answers);
    return enough && beyond >= share * this.#answers;
  }
}
