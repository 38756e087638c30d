import { setImmediate as turn } from "node:timers/promises";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { itemKey } from "../../client/lookup/attempt/journalled.js";
import type { LookupChoice } from "../../client/lookup/options.js";
import type { Withheld } from "../../client/lookup/withheld.js";
import type { LookupStore } from "../../client/store/store.js";
import type { EnrichJob } from "./types.js";
import { isReadTwice } from "./rows/fewer-rows.js";
import type { RowHandling } from "./rows/row-handling.js";
import { type CachedAnswers, type FindAnswer, findCached, PlannedItems } from "./planned-items.js";

/** Requests per second from which the rate hardly limits a run, and counting would cost it time. */
const fastRate = 1_000;

/** Distinct items beyond which the lookups are not counted, to bound the memory. */
const mostItems = 1_000_000;

export interface CountLookupsOptions {
  readonly endpoints: readonly LookupEndpoint[];
  readonly withheld: Withheld;
  /** Answers that need no request. */
  readonly cache?: CachedAnswers | undefined;
  /** The journal of a run that took over answers, which need no request either. */
  readonly takenOver?: Pick<LookupStore, "get"> | undefined;
  /** Start of the run, RFC 3339 UTC: answers cached since then count as requests of the run. */
  readonly startedAt: string;
  readonly signal: AbortSignal;
}

/** The endpoints whose number of lookups is known beforehand: triage may skip its queries. */
export function countedEndpoints(lookups: readonly LookupChoice[]): readonly LookupEndpoint[] {
  return lookups.flatMap((name) => (name === "triage" ? "quick-check" : name));
}

/**
 * Counts the lookups of a run in the background, for its progress: of a regular file, if a rate
 * limits the run.
 *
 * @returns the number of lookups; null until it is known, and if it cannot be
 */
export function countInBackground(
  job: EnrichJob,
  handling: RowHandling,
  options: Omit<CountLookupsOptions, "signal"> & { readonly perSecond: number },
  stack: ResourceStack,
): () => number | null {
  const { input, onStart, session } = job;
  if (onStart === undefined || session.sharesPace) return () => null;
  if (options.perSecond >= fastRate) return () => null;
  const stop = new AbortController();
  let lookups: number | null = null;
  const counting = isReadTwice(input)
    .then(async (isTwice) => {
      if (isTwice) lookups = await countLookups(handling, { ...options, signal: stop.signal });
    })
    // The run itself reports why its input cannot be read.
    .catch(() => undefined);
  stack.defer(() => {
    stop.abort();
    return counting;
  });
  return () => lookups;
}

/**
 * Counts the lookups that need requests, once per item and endpoint.
 *
 * @returns null if there are too many items
 * @throws the signal's reason, or why the input cannot be read
 */
export async function countLookups(
  handling: RowHandling,
  { endpoints, withheld, signal, ...answers }: CountLookupsOptions,
): Promise<number | null> {
  const items = new PlannedItems({ withheld, find: answersOf(answers), chosen: [] });
  // One promise shared by all items; nothing awaits it.
  const never = new Promise<Finding>(() => undefined);
  const start = handling.start((item) => {
    items.add(item);
    return never;
  });
  const source = await handling.open(null);
  try {
    for await (const batch of source.rows) {
      for (const row of batch) start(row, signal);
      await items.counted();
      await turn();
      signal.throwIfAborted();
      if (items.distinct > mostItems) return null;
    }
  } finally {
    await source.close();
  }
  return endpoints.reduce((sum, name) => sum + items.requestsTo(name), 0);
}

/** Finds the answers that the run had before it began. */
function answersOf({
  cache,
  takenOver,
  startedAt,
}: Pick<CountLookupsOptions, "cache" | "takenOver" | "startedAt">): FindAnswer | null {
  if (cache === undefined && takenOver === undefined) return null;
  const cached = cache && findCached(cache);
  return async (endpoint, item) => {
    const taken = (await takenOver?.get(itemKey(endpoint, item))) ?? null;
    if (taken !== null && taken.origin === undefined) return taken.finding;
    const found = (await cached?.(endpoint, item)) ?? null;
    return found !== null && (found.lookedUpAt ?? "") < startedAt ? found : null;
  };
}
