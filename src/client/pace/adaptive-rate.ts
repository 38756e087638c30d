/**
 * The climb after a cut, in milliseconds: back to the last good rate, then beyond it, doubling it in
 * `doubleMs`, or in `waits` times the wait that the service asks for. The rate starts `below` it. Below
 * `slow` requests per second, where a cut costs a larger share of them, doubling takes twice as long.
 * Until a limit is hit below `steady` times the last good rate, it takes `unsteadyMs`.
 */
const climb = {
  below: 0.1,
  backMs: 2_000,
  doubleMs: 10_000,
  unsteadyMs: 4_000,
  steady: 1.25,
  slow: 40,
  waits: 16,
  mostMs: 600_000,
};

/**
 * Fraction of the rate that remains after a throttle answer that asks for a wait, since each one costs
 * much; less if it comes before the last good rate is reached again, which was too high then.
 */
const cutTo = { beyond: 0.99, below: 0.8 };

/**
 * What is good without such a wait: of the rate at which the throttled request was sent; less if that
 * ended the search, or came before the last good rate is reached again. A limiter that admits no two
 * requests at once refuses every other one just above its limit, so that the accepted ones show half of it;
 * if more than the share of `half` is refused, the limit is far below.
 */
const belowLimit = { beyond: 0.95, below: 0.88, half: 0.6 };

/** How long ago, in milliseconds, a request was sent whose answer arrives. */
const answerMs = 100;

/** Minimum time between cuts, so that the previous one can take effect. */
const apartMs = 500;

/**
 * Share and number of throttled answers, beyond noise, that show a limit; `first` before any cut, and
 * `search` while the rate doubles each second, which noise should not end.
 */
const strain = { first: 0.04, search: 0.12, share: 0.02, least: 5 };

/**
 * Throttle answers within this fraction of the interval between requests count once: a server
 * that stalled reads at once what was sent meanwhile.
 */
const together = 0.25;

/**
 * Recent answers: half of them are forgotten after this time, less while the rate doubles each second, if
 * enough for `strain.least` remain.
 */
const recent = { ms: 1_000, searchMs: 250, answers: 125 };

/**
 * A trial at a fraction of the last good rate, less of one that is not steady: how many answers and expected
 * throttle answers it takes, its maximum duration, and the delay until the next one, which doubles while
 * they find no noise. Noise of `most` or more is not looked for.
 */
const trials = {
  at: 0.75,
  unsteadyAt: 0.4,
  most: 0.5,
  answers: 40,
  throttles: 6,
  longestMs: 4_000,
  againMs: 6_000,
  mostMs: 300_000,
};

/**
 * Maximum share of throttle answers that is noise, and that is believed if it explains no cut; the
 * number of answers that weigh as much as what was known; and the share that needs no more trials.
 */
const noisy = { most: 0.35, unexplained: 0.1, answers: 200, none: 0.005 };

/**
 * A rate has proved good once the climb is this far beyond it, after this many answers: what is throttled
 * below is noise.
 */
const proof = { beyond: 1.02, answers: 30 };

/** Initial rate of a search in requests per second, unless twice as many are accepted; least rate. */
const searchFrom = 10;
const lowest = 1;

interface Trial {
  readonly rate: number;
  readonly share: number;
}

/** What was learned: nothing at first. Times are milliseconds of the time in which the rate was used up. */
const nothing = {
  /** Last good rate in requests per second; null while nothing is limited. */
  known: null as number | null,
  cutAt: 0,
  /** True until a limit was hit twice: the rate doubles each second. */
  searching: true,
  /** Whether a limit was hit again near the last good rate. */
  isSteady: false,
  /** Last wait that the service asked for; 0 for none. */
  waitMs: 0,
  /** Share of the answers that is throttled at any rate, as by one sick server behind a balancer. */
  noise: 0,
  /** The cut that a trial tests: rate and share before it. */
  trial: null as Trial | null,
  /** Earliest time of the next trial, and the delay of the one after it. */
  tryAt: 0,
  againMs: trials.againMs,
};

type LearnedRate = Readonly<typeof nothing>;

/**
 * Finds the undeclared rate limit of a service. Nothing is limited until throttle answers accumulate;
 * then the rate is cut to that of accepted answers, returns to it within seconds, and probes beyond it
 * ever faster, as in RFC 9438. A trial at a lower rate shows whether cuts help at all.
 *
 * `now` is in milliseconds of the time in which the rate was used up: what isn't used proves nothing.
 */
export class AdaptiveRate {
  #learned: LearnedRate = nothing;
  readonly #sent: () => number;
  /** Ticket of the last cut: what was sent before it says nothing about the rate since. */
  #cutTicket = -1;
  /** Recent answers, the time since which they count, and the requests sent before. */
  #answers = 0;
  #throttles = 0;
  #since = 0;
  #sentBefore = 0;
  #halvedAt = 0;
  #throttledMs = 0;
  /** Answers at most at the last good rate, since the last cut; whether it has proved good. */
  #calm = { answers: 0, throttles: 0, isGood: false };
  /** Whether the last cut came before the last good rate had proved good. */
  #wasUnproven = false;
  /** Answers of the trial. One exhausted window throttles many in a row: they count once. */
  #tried = { answers: 0, throttles: 0, inRow: true };

  /** @param sent number of requests sent so far, by all that share the limit */
  constructor(sent: () => number) {
    this.#sent = sent;
  }

  /** Whether the rate doubles each second. */
  get isSearching(): boolean {
    return this.#learned.searching;
  }

  /** Allowed requests per second; infinite while no limit is known. */
  rateAt(now: number): number {
    const { known, cutAt, searching, isSteady, waitMs, trial } = this.#learned;
    if (known === null) return Number.POSITIVE_INFINITY;
    if (trial !== null) {
      return Math.max(lowest, known * (isSteady ? trials.at : trials.unsteadyAt));
    }
    const since = Math.max(0, now - cutAt);
    if (searching) return known * 2 ** (since / 1000);
    const beyond = since - climb.backMs;
    const steadyMs = known < climb.slow ? 2 * climb.doubleMs : climb.doubleMs;
    const leastMs = isSteady ? steadyMs : climb.unsteadyMs;
    const doubleMs = Math.min(climb.mostMs, Math.max(leastMs, climb.waits * waitMs));
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
    const { known, cutAt, trial } = this.#learned;
    const isHigh = this.#isHigh();
    // A wait costs as much as many throttle answers.
    const isLimit = waitMs > 0 || (isHigh && this.#throttles >= strain.least);
    const mayCut = trial === null && (known === null || now - cutAt >= apartMs);
    // Before the first cut, all that was sent says the same.
    if (isLimit && mayCut && (known === null || ticket === pauses)) this.#cut(now, ticket);
    return isHigh;
  }

  #isHigh(): boolean {
    const { known, searching } = this.#learned;
    const share = known === null ? strain.first : searching ? strain.search : strain.share;
    const noise = this.#learned.noise * this.#answers;
    return this.#throttles - noise - 2 * Math.sqrt(noise) >= share * this.#answers;
  }

  #cut(now: number, ticket: number): void {
    const { known, cutAt, searching, tryAt, waitMs } = this.#learned;
    const isFirst = known === null;
    const share = this.#throttles / this.#answers;
    // A burst at the start says little.
    const ms = Math.max(isFirst ? recent.ms : recent.ms / 4, now - this.#since);
    const accepted = ((1 - share) * 1000 * (this.#sent() - this.#sentBefore)) / ms;
    const rate = isFirst ? Math.max(searchFrom, accepted) : this.rateAt(now);
    const isEarly = !searching && now - cutAt < climb.backMs;
    const part = waitMs === 0 ? 1 : isEarly ? cutTo.below : cutTo.beyond;
    let least = rate / 2;
    if (waitMs === 0 && !isFirst) {
      const before = this.rateAt(now - answerMs);
      if (searching) least = belowLimit.below * before;
      else if (!isEarly) least = belowLimit.beyond * before;
      else if (share < belowLimit.half) least = belowLimit.below * rate;
    }
    const good = part * Math.min(rate, Math.max(least, accepted));
    // Cuts that don't help show noise.
    const isUnproven = !searching && !this.#calm.isGood;
    if (isUnproven && this.#wasUnproven) this.#learnNoise();
    this.#wasUnproven = isUnproven;
    // Next to nothing is throttled at a lower rate.
    const isClear = this.#calm.isGood && this.#learned.noise < noisy.none;
    // Noise that was found may have ended, whatever the share.
    const most = this.#learned.noise < noisy.none ? trials.most : 1;
    const tests = waitMs === 0 && now >= tryAt && share < most && !isClear;
    this.#cutTicket = ticket;
    const to = Math.max(isFirst ? 2 * searchFrom : lowest, good);
    this.#begin(now, {
      known: isFirst && !tests ? to / 2 : to,
      searching: isFirst,
      isSteady: !searching && rate < climb.steady * known!,
      trial: tests ? { rate, share } : null,
    });
  }

  #count(now: number, ticket: number, throttled: boolean): boolean {
    const isTogether =
      throttled && now - this.#throttledMs < (together * 1000) / this.rateAt(now - answerMs);
    if (throttled) this.#throttledMs = now;
    if (ticket <= this.#cutTicket || isTogether) return false;
    this.#since ||= now;
    this.#halvedAt ||= now;
    const ms = this.isSearching ? recent.searchMs : recent.ms;
    if (now - this.#halvedAt >= ms && this.#answers >= recent.answers) {
      this.#halvedAt = now;
      this.#since = (now + this.#since) / 2;
      this.#sentBefore = (this.#sent() + this.#sentBefore) / 2;
      this.#answers /= 2;
      this.#throttles /= 2;
    }
    this.#answers++;
    if (throttled) this.#throttles++;
    const { trial, cutAt } = this.#learned;
    if (trial === null) {
      this.#countCalm(now, throttled);
      return false;
    }
    const tried = this.#tried;
    tried.answers++;
    if (throttled && !tried.inRow) tried.throttles++;
    tried.inRow = throttled;
    const least = Math.max(trials.answers, trials.throttles / trial.share);
    if (tried.answers < least && now - cutAt <= trials.longestMs) return false;
    this.#judge(now, trial, tried.answers >= least);
    return true;
  }

  #countCalm(now: number, throttled: boolean): void {
    const { known, searching } = this.#learned;
    const calm = this.#calm;
    if (known === null || searching || calm.isGood) return;
    const rate = this.rateAt(now - answerMs);
    if (rate <= known) {
      calm.answers++;
      if (throttled) calm.throttles++;
    } else if (rate > proof.beyond * known && calm.answers >= proof.answers) {
      calm.isGood = true;
      this.#learnNoise();
    }
  }

  #learnNoise(): void {
    const { answers, throttles } = this.#calm;
    const { noise } = this.#learned;
    const seen = (noisy.answers * noise + throttles) / (noisy.answers + answers);
    const isMuch = throttles > noisy.unexplained * answers;
    this.#learned = { ...this.#learned, noise: isMuch ? Math.min(noise, seen) : seen };
  }

  /**
   * Throttling that a trial barely lowers is noise: the cut is undone. If it grows, the limit fell.
   *
   * @param isEnough whether there were enough answers for that
   */
  #judge(now: number, { rate, share: before }: Trial, isEnough: boolean): void {
    const { noise, searching, known, againMs } = this.#learned;
    const { answers, throttles } = this.#tried;
    const share = throttles / answers;
    const isNoise = share >= noise + (before - noise) / 3 && share <= 2 * before;
    if (isEnough && isNoise && share <= noisy.most) {
      this.#begin(now, {
        known: rate,
        noise: share,
        trial: null,
        tryAt: now,
        againMs: trials.againMs,
      });
      return;
    }
    const isOver = share < noise / 2 && noise * answers >= strain.least;
    let seen = noise;
    if (share > noisy.unexplained) seen = Math.min(noise, share);
    else if (isOver || (isEnough && noise === 0)) seen = share;
    else if (isEnough) seen = (noise + share) / 2;
    const waitMs = isOver ? trials.againMs / 2 : againMs;
    this.#begin(now, {
      known: searching ? known! / 2 : known,
      noise: seen,
      trial: null,
      tryAt: now + waitMs,
      againMs: Math.min(trials.mostMs, 2 * waitMs),
    });
  }

  #begin(now: number, learned: Partial<LearnedRate>): void {
    this.#learned = { ...this.#learned, ...learned, cutAt: now };
    this.#calm = { answers: 0, throttles: 0, isGood: false };
    this.#tried = { answers: 0, throttles: 0, inRow: true };
    this.#answers = 0;
    this.#throttles = 0;
    this.#since = now;
    this.#sentBefore = this.#sent();
    this.#halvedAt = now;
  }
}
