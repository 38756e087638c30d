/** How many may be open at the start, and the least that ever may where the ceiling allows. */
const start = 8;
const least = 2;

/**
 * Open are allowed twice what answers without a queue would need, and a few: enough to fill what
 * differences between answers leave, and to find out that more is of use.
 */
const headroom = { times: 2, more: 4 };

/** Answers come no faster than this, in milliseconds: below it, queues are this program's own. */
const shortestMs = 20;

/** Several times what an answer takes this program, in milliseconds. */
const longestSpacingMs = 0.25;

/** Weight of a round's latency in the mean. */
const weight = 0.3;

/**
 * Latency beyond so much of what it was is a queue, or the service has become slower: every so often
 * fewer are opened for a round, and where that does not make answers come within the share, it has.
 * Never fewer than at the start: so few do not crowd a service, and a round of answers that take
 * their time would last minutes with two open.
 */
const probe = { beyond: 1.5, everyMs: 3_000, open: 0.4, least: 12, share: 0.7 };

/**
 * How many requests have to be open at once: rate times latency (Little's law), with latency as it is
 * where requests do not wait for each other. A service that slows down under load answers no faster
 * for having more open; one that takes its time for each gets as many as its answers need.
 *
 * It works in rounds: answers to requests that left since the round began tell the mean latency. From
 * it and the number open follows how many may be open in the next.
 */
export class ConcurrencyNeed {
  readonly #ceiling: number;
  #most: number;
  #open = 0;
  /** Latency of answers that did not wait for each other, in milliseconds; null before the first. */
  #unqueuedMs: number | null = null;
  #meanMs = 0;
  /** Mean latency before the probe that is under way, and the number open then; null when there is none. */
  #beforeProbe: { readonly ms: number; readonly open: number } | null = null;
  #probedAt = 0;
  readonly #round = { from: Number.NEGATIVE_INFINITY, answers: 0, latencyMs: 0, open: 0 };

  /** @param ceiling most that may ever be open, 1 or more */
  constructor(ceiling: number) {
    this.#ceiling = ceiling;
    this.#most = Math.min(ceiling, start);
  }

  /** How many may be open now. */
  get most(): number {
    return this.#most;
  }

  /**
   * How far apart requests are to leave, in milliseconds: closer than their answers would come evenly,
   * and never so far that a slow service gets its requests late. 0 where answers come at once.
   */
  get spacingMs(): number {
    const unqueued = this.#unqueuedMs ?? 0;
    return unqueued <= shortestMs ? 0 : Math.min(longestSpacingMs, (0.8 * unqueued) / this.#most);
  }

  /** A request leaves. */
  sent(): void {
    this.#open++;
  }

  /** A request ended without telling how long the service takes: throttled, reset, aborted. */
  lost(): void {
    this.#open--;
  }

  /** A request that left at `sentAt` was answered, in milliseconds of one clock. */
  answered(sentAt: number, now: number): void {
    const round = this.#round;
    if (sentAt >= round.from) {
      round.answers++;
      round.latencyMs += now - sentAt;
      // Beyond the ceiling they wait for a connection.
      round.open += Math.min(this.#open, this.#ceiling);
      if (round.answers >= Math.max(start, this.#most / 4)) this.#turn(now);
    }
    this.#open--;
  }

  #turn(now: number): void {
    const { answers, latencyMs, open } = this.#round;
    this.#judge(now, latencyMs / answers, open / answers);
    Object.assign(this.#round, { from: now, answers: 0, latencyMs: 0, open: 0 });
  }

  #judge(now: number, latencyMs: number, open: number): void {
    const before = this.#beforeProbe;
    if (before !== null) this.#learn(latencyMs, before.ms);
    else this.#meanMs += (latencyMs - this.#meanMs) * (this.#unqueuedMs === null ? 1 : weight);
    let unqueued = Math.max(shortestMs, Math.min(this.#unqueuedMs ?? latencyMs, this.#meanMs));
    if (before === null && this.#hasToProbe(now, open, unqueued)) {
      this.#probedAt = now;
      const fewer = Math.floor(open * probe.open);
      if (open > probe.least) {
        this.#unqueuedMs = unqueued;
        this.#beforeProbe = { ms: this.#meanMs, open };
        this.#most = this.#allowed(Math.max(start, fewer));
        return;
      }
      // With so few open, more of them tell as much: a queue shows itself then.
      this.#meanMs = latencyMs;
      unqueued = Math.max(shortestMs, latencyMs);
    }
    this.#unqueuedMs = unqueued;
    const mean = Math.max(this.#meanMs, unqueued);
    // While few were open for a probe, what is needed is told by what was open before.
    const needed = ((before?.open ?? open) * unqueued) / mean;
    this.#most = this.#allowed(Math.ceil(headroom.times * needed + headroom.more));
  }

  #allowed(most: number): number {
    return Math.min(this.#ceiling, Math.max(least, most));
  }

  #hasToProbe(now: number, open: number, unqueuedMs: number): boolean {
    return (
      this.#meanMs > probe.beyond * unqueuedMs &&
      now - this.#probedAt >= probe.everyMs &&
      open > 0.8 * this.#most
    );
  }

  /** What a probe says: answers come sooner when fewer are open, or the service takes its time. */
  #learn(latencyMs: number, before: number): void {
    this.#beforeProbe = null;
    if (latencyMs > probe.share * before) {
      this.#meanMs = latencyMs;
      this.#unqueuedMs = latencyMs;
    } else {
      this.#unqueuedMs = Math.min(this.#unqueuedMs ?? latencyMs, latencyMs);
    }
  }
}
