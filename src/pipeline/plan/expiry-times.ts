/** Fresh answers that expire in a stretch of time from now. */
export interface Expiring {
  readonly after_seconds: number;
  /** Null for the last stretch, which has no end. */
  readonly until_seconds: number | null;
  readonly answers: number;
}

const [minute, hour, day] = [60, 3_600, 86_400];

/** Ends of the stretches, in seconds. */
const stretches = [hour, 6 * hour, day, 2 * day, 7 * day, 30 * day];

/**
 * Counts answers by the time that is left until they expire: to the minute within a day, to the hour
 * within a month, to the day beyond it. Memory grows with the length of that time only.
 */
export class ExpiryTimes {
  /** Start of a step in seconds → answers. */
  readonly #steps = new Map<number, number>();

  /** @param freshMs milliseconds until the answer expires */
  add(freshMs: number): void {
    const seconds = freshMs / 1000;
    const unit = seconds < day ? minute : seconds < 30 * day ? hour : day;
    const step = Math.floor(seconds / unit) * unit;
    this.#steps.set(step, (this.#steps.get(step) ?? 0) + 1);
  }

  /** The most answers that expire within this time. */
  mostWithin(seconds: number): number {
    return this.#count(0, seconds);
  }

  /** The stretches in which answers expire. */
  stretches(): readonly Expiring[] {
    return [...stretches, null]
      .map((until, at) => {
        const after = stretches[at - 1] ?? 0;
        const answers = this.#count(after, until ?? Number.POSITIVE_INFINITY);
        return { after_seconds: after, until_seconds: until, answers };
      })
      .filter(({ answers }) => answers > 0);
  }

  #count(from: number, to: number): number {
    let sum = 0;
    for (const [step, answers] of this.#steps) if (step >= from && step < to) sum += answers;
    return sum;
  }
}
