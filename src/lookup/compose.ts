import type { Clock } from "../core/clock.js";
import type { LookupEndpoint } from "../core/finding.js";
import type { Backlog } from "./pace/backlog.js";
import { type BudgetOptions, budget } from "./pace/budget.js";
import { cached, type CachedOptions } from "./cache.js";
import { bothLookups } from "./combine.js";
import { ConcurrencyNeed } from "./pace/concurrency-need.js";
import { dedupe } from "./dedupe.js";
import type { Foresight } from "./pace/foresight.js";
import { keep } from "./attempt/keep.js";
import { limit } from "./pace/limit.js";
import { localBogons } from "./local-bogons.js";
import type { LookupChoice } from "./options.js";
import { guarded } from "./attempt/outage.js";
import type { Outage } from "./attempt/outage.js";
import type { Pace } from "./pace/pace.js";
import type { RequestPace } from "./pace/request-pace.js";
import { paced, share } from "./pace/paced.js";
import { recovered, type RecoveredOptions } from "./attempt/recovered.js";
import { retry } from "./attempt/retry.js";
import { Spacing } from "./pace/spacing.js";
import type { LookupStore } from "../store/store.js";
import { triage } from "./triage.js";
import type { AttemptLookup, AttemptWrapper, Lookup, LookupWrapper } from "./types.js";

/** Makes one attempt at an endpoint: an `IntelClient`, or what stands for one. */
export interface LookupClient {
  attempt(endpoint: LookupEndpoint, ...args: Parameters<AttemptLookup>): ReturnType<AttemptLookup>;
}

export interface ComposeOptions {
  readonly client: LookupClient;
  /** What is asked for each item, one at least. */
  readonly lookups: readonly LookupChoice[];
  /** `local` answers addresses in reserved ranges without a request. Default `ask`. */
  readonly bogons?: "ask" | "local";
  /** Most attempts that are sent; without it as many as it takes. */
  readonly budget?: BudgetOptions | undefined;
  /** Most attempts open at once; fewer where fewer are needed. */
  readonly concurrency: number;
  /** How many more may wait for a connection; without it none. It ends when the service throttles. */
  readonly foresight?: Foresight | undefined;
  /** Is told how many lookups wait for one of those. */
  readonly backlog?: Backlog | undefined;
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
  /**
   * Path of the request for an item, in a run that goes on: `store` may have its answer by it, and
   * earlier attempts. Without it those are not looked for.
   */
  readonly recoveredPath?: RecoveredOptions["pathOf"] | undefined;
  /** Told of each of those answers. */
  readonly onRecovered?: RecoveredOptions["onFound"];
  /** What earlier runs, and others, kept; without it every item is asked for. */
  readonly cache?: Omit<CachedOptions, "endpoint"> | undefined;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Puts the lookup of a run together. An item passes, for each endpoint on its own:
 *
 *     dedupe ─▶ cached ─▶ reachable ─▶ retry ─▶ outage ─▶ limit ─▶ keep ─▶ recovered ─▶ pace ─▶ budget ─▶ client
 *
 * Dedupe is outermost: nothing done is done again. The cache comes next and takes what retry makes of
 * all attempts. Retry is above limit, so that what waits for its
 * next attempt holds no slot, and limit above pace, so that every attempt spends from the rate. Keep
 * is below limit, so that a kill loses no more than what was open.
 * Limit, pace and budget are one for all endpoints.
 */
export function composeLookup(options: ComposeOptions): Lookup {
  const { client, lookups, store, cache } = options;
  const retried = retry(options);
  const { concurrency, foresight, backlog } = options;
  const need = new ConcurrencyNeed(concurrency);
  const spacing = new Spacing(need, options.clock);
  const limited = limit({ concurrency, ahead: foresight, need, spacing, backlog });
  const atPace = paced(options.pace, { need, foresight, clock: options.clock });
  const guard: AttemptWrapper =
    options.outage === undefined ? (next) => next : guarded(options.outage);
  const counted: AttemptWrapper =
    options.budget === undefined ? (next) => next : budget(options.budget);
  const shared = (endpoint: LookupEndpoint): AttemptWrapper => {
    const own = options.shares?.[endpoint];
    return own === undefined ? (next) => next : share(own);
  };
  const { recoveredPath, onRecovered, reachable = (next) => next } = options;
  const found = (endpoint: LookupEndpoint): AttemptWrapper =>
    recoveredPath === undefined
      ? (next) => next
      : recovered({ endpoint, store, pathOf: recoveredPath, onFound: onRecovered });
  const kept = (endpoint: LookupEndpoint): LookupWrapper =>
    cache === undefined ? (next) => next : cached({ ...cache, endpoint });
  const chain = (endpoint: LookupEndpoint): Lookup =>
    dedupe({ endpoint, store, isResumed: recoveredPath !== undefined })(
      kept(endpoint)(
        reachable(
          retried(
            guard(
              limited(
                keep({ endpoint, store })(
                  found(endpoint)(
                    shared(endpoint)(
                      atPace(counted((item, own) => client.attempt(endpoint, item, own))),
                    ),
                  ),
                ),
              ),
            ),
          ),
        ),
      ),
    );

  const query = chain("query");
  const quickCheck = chain("quick-check");
  const asked = choose(lookups, query, quickCheck);
  return options.bogons === "local" ? localBogons(asked) : asked;
}

function choose(lookups: readonly LookupChoice[], query: Lookup, quickCheck: Lookup): Lookup {
  if (lookups.includes("triage")) return triage(query, quickCheck);
  if (!lookups.includes("quick-check")) return query;
  return lookups.includes("query") ? bothLookups(query, quickCheck) : quickCheck;
}
