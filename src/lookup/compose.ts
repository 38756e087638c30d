import type { Clock } from "../core/clock.js";
import type { LookupEndpoint } from "../core/finding.js";
import { bothLookups } from "./combine.js";
import { dedupe } from "./dedupe.js";
import { keep } from "./keep.js";
import { limit } from "./limit.js";
import { guarded } from "./outage.js";
import type { Outage } from "./outage.js";
import { type Pace, pace } from "./pace.js";
import { retry } from "./retry.js";
import type { FindingStore } from "./store.js";
import type { Lookup, LookupWrapper } from "./types.js";

/** One attempt at each endpoint: an `IntelClient`, or what stands for one. */
export interface LookupClient {
  readonly query: Lookup;
  readonly quickCheck: Lookup;
}

export interface ComposeOptions {
  readonly client: LookupClient;
  /** What is asked for each item, one at least. */
  readonly lookups: readonly LookupEndpoint[];
  /** Most attempts open at once. */
  readonly concurrency: number;
  /** The pace of the run; calls that are no lookups spend from it as well. */
  readonly pace: Pace;
  readonly retries: number;
  readonly partialRetries: number;
  /** What happens while the service is gone; without it such lookups use up their retries. */
  readonly outage?: Outage | undefined;
  /** Journal of the run, or a store in memory. */
  readonly store: FindingStore;
  readonly clock: Clock;
  /** Numbers from 0 to below 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * Puts the lookup of a run together. An item passes, for each endpoint on its own:
 *
 *     dedupe ─▶ retry ─▶ outage ─▶ limit ─▶ keep ─▶ pace ─▶ client
 *
 * Dedupe is outermost: nothing done is done again. Retry is above limit, so that what waits for its
 * next attempt holds no slot, and limit above pace, so that every attempt spends from the rate. Keep
 * is below limit, so that a kill loses no more than what was open.
 * Limit and pace are one for all endpoints. A cache goes between dedupe and retry; asking the query
 * only where the quick check shows something takes the place of `bothLookups`.
 */
export function composeLookup(options: ComposeOptions): Lookup {
  const { client, lookups, store } = options;
  const retried = retry(options);
  const limited = limit(options);
  const paced = pace(options.pace);
  const guard: LookupWrapper =
    options.outage === undefined ? (next) => next : guarded(options.outage);
  const chain = (endpoint: LookupEndpoint, attempt: Lookup): Lookup =>
    dedupe({ endpoint, store })(retried(guard(limited(keep({ endpoint, store })(paced(attempt))))));

  const query = chain("query", client.query);
  const quickCheck = chain("quick-check", client.quickCheck);
  if (!lookups.includes("quick-check")) return query;
  return lookups.includes("query") ? bothLookups(query, quickCheck) : quickCheck;
}
