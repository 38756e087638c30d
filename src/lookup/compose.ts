import type { Clock } from "../core/clock.js";
import type { Attempt } from "../core/attempt.js";
import { EarlyEndError } from "../core/errors.js";
import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import { cached, type CachedOptions } from "./cache.js";
import { allLookups, localBogons, triage } from "./combine.js";
import { dedupe } from "./dedupe.js";
import { keep } from "./attempt/keep.js";
import type { LookupChoice } from "./options.js";
import { guarded, type Outage } from "./attempt/outage.js";
import type { Pace } from "./pace/pace.js";
import type { RequestPace } from "./pace/request-pace.js";
import { retry } from "./attempt/retry.js";
import { Slots } from "./pace/slots.js";
import type { LookupStore } from "../store/store.js";
import type { AttemptLookup, AttemptWrapper, Lookup, LookupWrapper } from "./types.js";

/** Makes one attempt at an endpoint: an `IntelClient`, or what stands for one. */
export interface LookupClient {
  attempt(endpoint: LookupEndpoint, ...args: Parameters<AttemptLookup>): ReturnType<AttemptLookup>;
}

export interface BudgetOptions {
  /** Most attempts that are sent, all endpoints together. */
  readonly maxRequests: number;
  /** Told once, when an attempt is refused. */
  readonly onSpent: (error: EarlyEndError) => void;
}

export interface ComposeOptions {
  readonly client: LookupClient;
  /** What is asked for each item, one at least. */
  readonly lookups: readonly LookupChoice[];
  /** `local` answers addresses in reserved ranges without a request. Default `ask`. */
  readonly bogons?: "ask" | "local";
  /** Most attempts that are sent; without it as many as it takes. */
  readonly budget?: BudgetOptions | undefined;
  /** Most attempts open at once. */
  readonly concurrency: number;
  /** What attempts share instead of so many slots. */
  readonly slots?: Slots | undefined;
  /** The pace of the run; calls that are no lookups spend from it as well. */
  readonly pace: RequestPace;
  /** What an endpoint has of its own beside it. */
  readonly shares?: Partial<Record<LookupEndpoint, Pace>>;
  readonly retries: number;
  readonly partialRetries: number;
  /** Ends the run where the first lookups show that nothing answers at the address. */
  readonly reachable?: LookupWrapper | undefined;
  /** What happens while the service is gone; without it such lookups use up their retries. */
  readonly outage?: Outage | undefined;
  /** Journal of the run, or a store in memory. */
  readonly store: LookupStore;
  /** Whether the run continues an earlier one: `store` may have attempts of it. Default false. */
  readonly isResumed?: boolean | undefined;
  /** What earlier runs, and others, kept; without it every item is asked for. */
  readonly cache?: Omit<CachedOptions, "endpoint"> | undefined;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Puts the lookup of a run together. An item passes, for each endpoint on its own:
 *
 *     dedupe ─▶ cached ─▶ reachable ─▶ retry ─▶ outage ─▶ limit ─▶ keep ─▶ pace ─▶ budget ─▶ client
 *
 * Dedupe is outermost: nothing done is done again. The cache comes next and takes what retry makes of
 * all attempts. Retry is above limit, so that what waits for its
 * next attempt holds no slot, and limit above pace, so that every attempt spends from the rate. Keep
 * is below limit, so that a kill loses no more than what was open.
 * Limit, pace and budget are one for all endpoints.
 */
export function composeLookup(options: ComposeOptions): Lookup {
  const { client, lookups, store, cache, outage, shares = {}, isResumed = false } = options;
  const { concurrency, slots = new Slots({ concurrency }) } = options;
  const limits = {
    outage: outage && guarded(outage),
    pace: paced(options.pace, () => slots.limited()),
    budget: options.budget && budget(options.budget),
  };
  const retried = retry(options);
  const chain = (endpoint: LookupEndpoint): Lookup => {
    const own = shares[endpoint];
    const attempt = wrapped<AttemptLookup>(
      [
        limits.outage,
        slots.limit,
        keep({ endpoint, store }),
        own && share(own),
        limits.pace,
        limits.budget,
      ],
      (item, attemptOptions) => client.attempt(endpoint, item, attemptOptions),
    );
    return wrapped<Lookup>(
      [
        dedupe({ endpoint, store, isResumed }),
        cache && cached({ ...cache, endpoint }),
        options.reachable,
      ],
      retried(attempt),
    );
  };
  const asked = choose(lookups, chain);
  return options.bogons === "local" ? localBogons(asked) : asked;
}

/** Puts those concerns that there are around a function, the first outermost. */
function wrapped<F>(concerns: readonly (((next: F) => F) | undefined)[], inner: F): F {
  return concerns.reduceRight((next, wrap) => wrap?.(next) ?? next, inner);
}

function choose(
  lookups: readonly LookupChoice[],
  chain: (endpoint: LookupEndpoint) => Lookup,
): Lookup {
  if (lookups.includes("triage")) return triage(chain("query"), chain("quick-check"));
  const chosen = lookupEndpoints.filter((endpoint) => lookups.includes(endpoint));
  const chains = chosen.map((endpoint) => [endpoint, chain(endpoint)] as const);
  return chains.length === 1 ? chains[0]![1] : allLookups(chains);
}

/**
 * Counts attempts before they are sent and refuses the first that is over the budget, and all after
 * it. It goes right before the client, so that nothing that waits counts as sent; one wrapper serves
 * all endpoints.
 *
 * @throws EarlyEndError `requests_spent`
 */
export function budget({ maxRequests, onSpent }: BudgetOptions): AttemptWrapper {
  let sent = 0;
  let spent: EarlyEndError | null = null;
  return (next) => (item, options) => {
    if (sent < maxRequests) {
      sent++;
      return next(item, options);
    }
    if (spent === null) {
      const count = maxRequests === 1 ? "the one request" : `all ${maxRequests} requests`;
      spent = new EarlyEndError("requests_spent", `${count} of --max-requests are made`);
      onSpent(spent);
    }
    return Promise.reject(spent);
  };
}

/** Spends from a pace of an endpoint's own, one that `isShare`, for every attempt. */
export function share(own: Pace): AttemptWrapper {
  const ended = (): void => own.ended();
  return (next) => (item, options) =>
    own.take(options.signal).then(() => {
      const finding = next(item, options);
      finding.then(ended, ended);
      return finding;
    });
}

/**
 * Spends from the pace of the run for every attempt, and tells it what came back.
 *
 * @param onThrottled called when the service asks for fewer requests
 */
export function paced(run: RequestPace, onThrottled?: () => void): AttemptWrapper {
  const settle = (attempt: Attempt, ticket: number): Attempt => {
    if (attempt.again?.policy === "throttled") {
      onThrottled?.();
      run.throttled(attempt.again.afterMs, ticket);
    }
    // Any other answer shows that the service takes requests; no answer does not.
    else if (attempt.finding.httpStatus !== null) run.succeeded(ticket);
    return attempt;
  };
  return (next) => (item, options) =>
    run
      .take(options.signal)
      .then((ticket) => next(item, options).then((attempt) => settle(attempt, ticket)));
}
