/**
 * The climb after a cut, in milliseconds: back to the last good rate, then beyond it, doubling it in
 * `doubleMs`, or in so many times the wait that the service asks for. The rate starts `below` it.
 */
const climb = { below: 0.1, backMs: 2_000, doubleMs: 10_000, waits: 20, mostMs: 600_000 };

/** Fraction of the rate that remains after a throttle answer that asks for a wait: each one costs much. */
const keptAfterWait = 0.99;

/** Minimum time between cuts, in which the previous one takes effect and shows whether it helped. */
const apartMs = 500;

/** Share and number of throttled answers, beyond noise, that show a limit; `first` before any cut. */
const strain = { first: 0.04, share: 0.02, least: 5 };

/** Recent answers: half of them are forgotten after this time, if there are enough. */
const recent = { ms: 1_000, answers: 20 };

/** Answers after a cut that tell noise from a limit, and the maximum share that is taken for noise. */
const noisy = { answers: 20, most: 0.35 };

/** Initial rate of a search in requests per second, unless twice as many are accepted; least rate. */
const searchFrom = 10;
const lowest = 1;

/** What was learned, as JSON. Times are milliseconds of the time in which the rate was used up. */
export interface LearnedRate {
  /** Last good rate in requests per second; null while nothing is limited. */
  readonly known: number | null;
  readonly cutAt: number;
  /** True until a limit was hit twice: the rate doubles each second. */
  readonly searching: boolean;
  /** Last wait that the service asked for; 0 if it asked for none. */
  readonly waitMs: number;
  /** Share of the answers that is throttled at any rate, as by one sick server behind a balancer. */
  readonly noise: number;
  /** Number of pauses before the last cut. */
  readonly ticket: number;
  /** That of the last cut whose effect told noise from a limit; -1 for none. */
  readonly judged: number;
}

const nothing: LearnedRate = {
  known: null,
  cutAt: 0,
  searching: true,
  waitMs: 0,
  noise: 0,
  ticket: 0,
  judged: -1,
};

/**
 * Finds the undeclared rate limit of a service. Nothing is limited until throttle answers accumulate;
 * then the rate is cut to that of accepted answers, returns to it within seconds, and probes beyond it
 * ever faster, as in RFC 9438. Throttling that a cut does not end is noise.
 *
 * `now` is in milliseconds of the time in which the rate was used up: what isn't used proves nothing.
 */
export class AdaptiveRate {
  #learned = nothing;
  readonly #sent: () => number;
  /** Recent answers, the time since which they count, and the requests sent before. */
  #answers = 0;
  #throttles = 0;
  #since = 0;
  #sentBefore = 0;
  #halvedAt = 0;
  /**
   * Answers since the cut. An exhausted window throttles many in a row, so those that follow another
   * throttle answer don't count.
   */
  #afterCut = { answers: 0, throttles: 0, inRow: true };

  /** @param sent number of requests sent so far, by all that share the limit */
  constructor(sent: () => number) {
    this.#sent = sent;
  }

  get learned(): LearnedRate {
    return this.#learned;
  }

  /** Replaces what was learned. */
  set learned(learned: LearnedRate) {
    this.#learned = learned;
    this.#afterCut = { answers: 0, throttles: 0, inRow: true };
  }

  /** True once the search has met a limit, and the answers after the last cut show that it is one. */
  get isFound(): boolean {
    const { searching, judged, ticket } = this.#learned;
    return !searching && judged === ticket;
  }

  /** Allowed requests per second; infinite while no limit is known. */
  rateAt(now: number): number {
    const { known, cutAt, searching, waitMs } = this.#learned;
    if (known === null) return Number.POSITIVE_INFINITY;
    const since = Math.max(0, now - cutAt);
    if (searching) return known * 2 ** (since / 1000);
    const beyond = since - climb.backMs;
    const doubleMs = Math.min(climb.mostMs, Math.max(climb.doubleMs, climb.waits * waitMs));
    const part = beyond < 0 ? climb.below * (beyond / climb.backMs) ** 3 : (beyond / doubleMs) ** 4;
    return Math.max(lowest, known * (1 + part));
  }

  /**
   * Reports an answer other than throttling.
   *
   * @param ticket number of pauses before its request was sent
   * @returns whether something was learned
   */
  accepted(now: number, ticket: number): boolean {
    return this.#count(now, ticket, false);
  }

  /**
   * Reports a throttle answer.
   *
   * @param pauses number of pauses so far; only a request sent after the last one is news
   * @param waitMs wait that the service asks for; 0 for none
   * @returns whether it is more than noise, so that a pause may help
   */
  throttled(now: number, ticket: number, pauses: number, waitMs: number): boolean {
    this.#count(now, ticket, true);
    this.#learned = { ...this.#learned, waitMs };
    const { known, cutAt } = this.#learned;
    const isHigh = this.#isHigh();
    // A wait costs as much as many throttle answers.
    const isLimit = waitMs > 0 || (isHigh && this.#throttles >= strain.least);
    const mayCut = known === null || now - cutAt >= apartMs;
    if (isLimit && mayCut && ticket === pauses) this.#cut(now, ticket);
    return isHigh;
  }

  #isHigh(): boolean {
    const share = this.#learned.known === null ? strain.first : strain.share;
    const noise = this.#learned.noise * this.#answers;
    return this.#throttles - noise - 2 * Math.sqrt(noise) >= share * this.#answers;
  }

  #cut(now: number, ticket: number): void {
    const { known, waitMs } = this.#learned;
    const isFirst = known === null;
    const share = this.#throttles / this.#answers;
    // A burst at the start says little.
    const ms = Math.max(isFirst ? recent.ms : recent.ms / 4, now - this.#since);
    const accepted = ((1 - share) * 1000 * (this.#sent() - this.#sentBefore)) / ms;
    const rate = isFirst ? Math.max(searchFrom, accepted) : this.rateAt(now);
    const good = Math.max(rate / 2, Math.min(rate, accepted)) * (waitMs === 0 ? 1 : keptAfterWait);
    this.learned = {
      ...this.#learned,
      known: isFirst ? Math.max(searchFrom, good / 2) : Math.max(lowest, good),
      searching: isFirst,
      cutAt: now,
      ticket,
    };
    this.#answers = 0;
    this.#throttles = 0;
    this.#since = now;
    this.#sentBefore = this.#sent();
    this.#halvedAt = now;
  }

  #count(now: number, ticket: number, throttled: boolean): boolean {
    this.#since ||= now;
    this.#halvedAt ||= now;
    if (now - this.#halvedAt >= recent.ms && this.#answers >= recent.answers) {
      this.#halvedAt = now;
      this.#since = (now + this.#since) / 2;
      this.#sentBefore = (this.#sent() + this.#sentBefore) / 2;
      this.#answers /= 2;
      this.#throttles /= 2;
    }
    this.#answers++;
    if (throttled) this.#throttles++;
    const after = this.#afterCut;
    const { known, cutAt, ticket: cut, judged } = this.#learned;
    if (known === null || judged === cut || ticket <= cut) return false;
    if (now - cutAt >= apartMs && after.answers >= noisy.answers) {
      return this.#judge(now, after.throttles / after.answers);
    }
    if (!after.inRow) {
      after.answers++;
      if (throttled) after.throttles++;
    }
    after.inRow = throttled;
    return false;
  }

  /** Throttling that the cut did not end is noise: the search goes on as if there had been no cut. */
  #judge(now: number, share: number): boolean {
    const before = this.#learned;
    const noise = share > noisy.most ? before.noise : share;
    const isVain = noise - before.noise >= strain.share;
    const search = isVain ? { searching: true, cutAt: now } : {};
    this.#learned = { ...before, noise, judged: before.ticket, ...search };
    return before.judged < 0 || noise !== before.noise;
  }
}
