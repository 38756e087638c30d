import { type Attempt, isOverQuota } from "../../core/attempt.js";
import { EarlyEndError } from "../../core/errors.js";
import { type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import { cached, type CachedOptions } from "./cache.js";
import { allLookups, triage } from "./combine.js";
import { dedupe } from "./dedupe.js";
import { journalled } from "./attempt/journalled.js";
import type { LookupChoice } from "./options.js";
import type { Outage } from "./attempt/outage.js";
import type { RequestPace } from "../pace/request-pace.js";
import { retry, type RetryOptions } from "./attempt/retry.js";
import { Slots } from "../pace/slots.js";
import type { LookupStore } from "../store/store.js";
import type { Withheld } from "./withheld.js";
import type { AttemptLookup, AttemptWrapper, Lookup, LookupWrapper } from "./types.js";

/** Makes single attempts: an `IntelClient`, or its equivalent. */
export interface LookupClient {
  attempt(endpoint: LookupEndpoint, ...args: Parameters<AttemptLookup>): ReturnType<AttemptLookup>;
}

interface BudgetOptions {
  /** Maximum number of attempts, over all endpoints. */
  readonly maxRequests: number;
  /** Called once, when the first attempt is refused. */
  readonly onSpent: (error: EarlyEndError) => void;
}

interface ComposeOptions extends RetryOptions {
  readonly client: LookupClient;
  /** What to look up for each item; at least one. */
  readonly lookups: readonly LookupChoice[];
  /** What must not be sent. Default: nothing. */
  readonly withheld?: Withheld | undefined;
  /** Limits the number of attempts. Default: no limit. */
  readonly budget?: BudgetOptions | undefined;
  /** Maximum number of open attempts. */
  readonly concurrency: number;
  /** Slots shared with other lookups, instead of `concurrency` own ones. */
  readonly slots?: Slots | undefined;
  /** Pace of the run, shared with calls other than lookups. */
  readonly pace: RequestPace;
  /** Ends the run if its first lookups show that nothing answers at the address. */
  readonly failFast?: LookupWrapper | undefined;
  /** Circuit breaker; without it, lookups use up their retries while the service is down. */
  readonly outage?: Outage | undefined;
  /** Journal of the run, or an in-memory store. */
  readonly store: LookupStore;
  /** Whether `store` may hold attempts of an interrupted run. Default false. */
  readonly isResumed?: boolean | undefined;
  /** Answers of earlier runs. Default: none. */
  readonly cache?: Omit<CachedOptions, "endpoint"> | undefined;
}

/**
 * Assembles the lookup of a run. For each endpoint, an item passes through:
 *
 *     dedupe ─▶ cached ─▶ failFast ─▶ retry ─▶ breaker ─▶ limit ─▶ journalled ─▶ pace ─▶ budget ─▶ client
 *
 * - dedupe is outermost, so nothing is done twice.
 * - cached sees the combined result of all attempts.
 * - retry is outside limit, so lookups that wait for their next attempt hold no slot.
 * - journalled is inside limit, so a kill loses at most what was open.
 * - limit is outside pace, so every attempt spends from the rate.
 *
 * All endpoints share breaker, limit, pace and budget.
 */
export function composeLookup(options: ComposeOptions): Lookup {
  const { client, lookups, store, cache, outage, isResumed = false } = options;
  const { concurrency, slots = new Slots({ concurrency }) } = options;
  const limits = {
    outage: outage?.hold,
    pace: paced(options.pace, () => slots.limited()),
    budget: options.budget && budget(options.budget),
  };
  const retried = retry(options);
  const chain = (endpoint: LookupEndpoint): Lookup => {
    const attempt = wrapped<AttemptLookup>(
      [limits.outage, slots.limit, journalled({ endpoint, store }), limits.pace, limits.budget],
      (item, attemptOptions) => client.attempt(endpoint, item, attemptOptions),
    );
    return wrapped<Lookup>(
      [
        dedupe({ endpoint, store, isResumed }),
        cache && cached({ clock: options.clock, ...cache, endpoint }),
        options.failFast,
      ],
      retried(attempt),
    );
  };
  const lookup = choose(lookups, chain);
  return options.withheld?.wrap(lookup) ?? lookup;
}

/** Wraps a function in the concerns that are defined, the first outermost. */
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
 * Counts attempts and refuses those over budget. Sits right before the client, so waiting attempts
 * don't count; one wrapper serves all endpoints.
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
      spent = new EarlyEndError("requests_spent", `--max-requests ${maxRequests} is used up`);
      onSpent(spent);
    }
    return Promise.reject(spent);
  };
}

/**
 * Spends from the run's pace for every attempt and reports the outcome to it.
 *
 * @param onThrottled called when the service asks for fewer requests
 */
export function paced(run: RequestPace, onThrottled?: () => void): AttemptWrapper {
  const settle = (attempt: Attempt, ticket: number): Attempt => {
    const { again } = attempt;
    if (again?.policy === "throttled" || isOverQuota(attempt)) {
      onThrottled?.();
      run.throttled(again?.afterMs ?? null, ticket);
    }
    // Any other answer proves that the service accepts requests; a missing answer does not.
    else if (attempt.finding.httpStatus !== null) run.succeeded(ticket);
    return attempt;
  };
  return (next) => async (item, options) => {
    const ticket = await run.take(options.signal);
    return settle(await next(item, options), ticket);
  };
}
