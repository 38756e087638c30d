import type { Again, Attempt } from "../../core/attempt.js";
import type { Finding } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { mergePartials } from "./keep.js";
import type { AttemptLookup, Lookup, LookupOptions } from "../types.js";
import { AbortGroups } from "../../core/abort.js";
import type { Clock } from "../../core/clock.js";

/**
 * Asks again where another attempt may help, and makes one finding of all attempts. Its `attempts`
 * counts them all.
 *
 * A full answer stands as it is. Partial answers are merged and kept, whatever the attempts after
 * them bring: a reset, a refusal or a 400 that follows says that this attempt brought nothing, not
 * that the data received before is wrong.
 */
export function retry(options: RetryOptions): (next: AttemptLookup) => Lookup {
  const sleeps = new Sleeps(options.clock);
  return (next) => {
    /** @param tried what was tried so far, one at least; further attempts are added */
    const askAgain = async (
      item: Item,
      lookupOptions: LookupOptions,
      tried: Attempt[],
    ): Promise<Finding> => {
      const plan = new RetryPlan(options);
      let wait: number | null = null;
      for (const { again } of tried) wait = again && plan.waitAfter(again);
      while (wait !== null) {
        await sleeps.sleep(wait, lookupOptions.signal);
        const attempt = await next(item, lookupOptions);
        tried.push(attempt);
        wait = attempt.again && plan.waitAfter(attempt.again);
      }
      return conclude(tried, lookupOptions);
    };
    return (item, lookupOptions) => {
      const tried = lookupOptions.asked?.tried ?? [];
      if (tried.length > 0) return askAgain(item, lookupOptions, tried);
      return next(item, lookupOptions).then((attempt) => {
        if (attempt.again === null) return conclude([attempt], lookupOptions);
        tried.push(attempt);
        return askAgain(item, lookupOptions, tried);
      });
    };
  };
}

function conclude(tried: readonly Attempt[], { asked }: LookupOptions): Finding {
  const last = tried.at(-1) as Attempt;
  const partials = tried.filter(({ finding }) => finding.status === "partial");
  const [first, ...others] = last.finding.status === "complete" ? [] : partials;
  if (asked !== undefined) asked.drift = (partials.at(-1) ?? last).drift;
  const finding =
    first === undefined
      ? last.finding
      : mergePartials([first.finding, ...others.map(({ finding }) => finding)]);
  if (tried.length === 1) return finding;
  return { ...finding, attempts: tried.reduce((sum, { finding }) => sum + finding.attempts, 0) };
}

/** Sleeps that end with a signal; one listener a signal, however many sleep under it. */
export class Sleeps {
  readonly #clock: Clock;
  readonly #groups = new AbortGroups();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @throws the signal's reason when it aborts first */
  async sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw signal.reason;
    const own = new AbortController();
    const leave = this.#groups.join(signal, own);
    try {
      await this.#clock.sleep(ms, own.signal);
    } finally {
      leave();
    }
  }
}

export interface RetryOptions {
  /** Further attempts after passing faults and throttle answers, together. */
  readonly retries: number;
  /** Further attempts after partial answers. */
  readonly partialRetries: number;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/** A part that is unavailable comes back soon or not soon enough to wait for. */
const partialBounds: BackoffBounds = { firstMs: 250, mostMs: 2_000 };

/** Whether and when to ask again, for all attempts of one lookup or call. */
export class RetryPlan {
  readonly #options: RetryOptions;
  #faults = 0;
  #partials = 0;
  #onces = 0;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Milliseconds to wait before the next attempt; null when there is none to be made. */
  waitAfter({ policy, afterMs }: Again): number | null {
    const { retries, partialRetries, random = Math.random } = this.#options;
    switch (policy) {
      case "partial":
        if (this.#partials >= partialRetries) return null;
        return backoffMs(this.#partials++, random(), afterMs, partialBounds);
      case "once":
        if (this.#onces > 0) return null;
        return backoffMs(this.#onces++, random(), afterMs);
      case "transient":
      case "throttled":
        if (this.#faults >= retries) return null;
        return backoffMs(this.#faults++, random(), afterMs);
    }
  }
}

/** Bounds of the random wait before an attempt, in milliseconds. */
interface BackoffBounds {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** After faults and throttle answers. */
const faultBounds: BackoffBounds = { firstMs: 500, mostMs: 30_000 };

/**
 * Full jitter over a span that doubles with each retry (AWS Architecture Blog, Exponential Backoff
 * And Jitter), so that what failed together does not come back together.
 *
 * @param retry how many retries there were before this one, from 0
 * @param random from 0 to below 1
 * @param afterMs what the service asked for: waited in any case, the jitter on top
 */
export function backoffMs(
  retry: number,
  random: number,
  afterMs: number | null,
  bounds: BackoffBounds = faultBounds,
): number {
  const span = Math.min(bounds.mostMs, bounds.firstMs * 2 ** Math.min(retry, 20));
  return (afterMs ?? 0) + random * span;
}
