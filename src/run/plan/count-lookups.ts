import { stat } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { ResourceStack } from "../../core/resource-stack.js";
import { type CachedOptions, isUsable } from "../../lookup/cache.js";
import type { Withheld } from "../../lookup/withheld.js";
import { inputPaths } from "../../inputs/types.js";
import type { LookupChoice } from "../../lookup/options.js";
import type { Lookup } from "../../lookup/types.js";
import { cacheKeys, keyHash } from "../../store/cache-key.js";
import type { LookupStore } from "../../store/store.js";
import type { EnrichJob } from "../types.js";
import type { RowHandling } from "../rows/row-handling.js";
import { itemKey } from "../../lookup/lookup-key.js";

/** Requests per second from which the rate hardly limits a run, and counting would cost it time. */
const fastRate = 1_000;

export interface CountLookupsOptions {
  readonly endpoints: readonly LookupEndpoint[];
  readonly withheld: Withheld;
  /** Answers that need no request. */
  readonly cache?: Omit<CachedOptions, "endpoint"> | undefined;
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
  const paths = inputPaths(input);
  const isFiles = "path" in input || ("inputs" in input && paths.length === input.inputs.length);
  if (!isFiles || onStart === undefined || session.sharesPace) return () => null;
  if (options.perSecond >= fastRate) return () => null;
  const stop = new AbortController();
  let lookups: number | null = null;
  const counting = Promise.all(paths.map((path) => stat(path)))
    .then(async (files) => {
      if (files.every((file) => file.isFile()))
        lookups = await countLookups(handling, { ...options, signal: stop.signal });
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
 * Counts the lookups that need requests, once per item and endpoint. Memory is bounded; beyond
 * 262,144 items the count is an estimate, with a standard error below 0.3%.
 *
 * @throws the signal's reason, or why the input cannot be read
 */
export async function countLookups(
  handling: RowHandling,
  options: CountLookupsOptions,
): Promise<number> {
  const { signal } = options;
  const counts = new SampledCounts();
  const lookupsFor = lookupsOf(options);
  const pending: Promise<void>[] = [];
  // One promise shared by all items; nothing awaits it.
  const never = new Promise<Finding>(() => undefined);
  const count: Lookup = (item) => {
    const hash = keyHash(`${item.kind} ${item.value}`);
    if (!counts.wants(hash)) return never;
    const lookups = lookupsFor(item);
    counts.set(hash, typeof lookups === "number" ? lookups : 0);
    if (typeof lookups !== "number") pending.push(lookups.then((n) => counts.set(hash, n)));
    return never;
  };
  const start = handling.start(options.withheld.wrap(count));
  const source = await handling.open(null);
  try {
    for await (const batch of source.rows) {
      for (const row of batch) start(row, signal);
      await Promise.all(pending.splice(0));
      await turn();
      signal.throwIfAborted();
    }
  } finally {
    await source.close();
  }
  return counts.total;
}

/** Returns a function that tells how many lookups of an item need requests. */
function lookupsOf(options: CountLookupsOptions): (item: Item) => number | Promise<number> {
  const { endpoints, cache, takenOver, startedAt } = options;
  if (cache === undefined && takenOver === undefined) return () => endpoints.length;
  const { partials = true } = cache ?? {};
  const isNeeded = (item: Item, found: Finding | null): boolean =>
    found === null || (found.lookedUpAt ?? "") >= startedAt || !isUsable(item, found, partials);
  const lookups = endpoints.map((endpoint) => {
    const keyOf = cache && cacheKeys(cache.address, endpoint);
    return async (item: Item): Promise<boolean> => {
      const taken = (await takenOver?.get(itemKey(endpoint, item))) ?? null;
      if (taken !== null && taken.origin === undefined) return false;
      return isNeeded(item, keyOf === undefined ? null : await cache!.store.get(keyOf(item)));
    };
  });
  return async (item) => {
    const needed = await Promise.all(lookups.map((isAsked) => isAsked(item)));
    return needed.filter(Boolean).length;
  };
}

/**
 * Sums a count per distinct hash in bounded memory. Exact up to `capacity` hashes; beyond, it keeps
 * those below a threshold that halves when they are too many (adaptive sampling: Flajolet, 1990).
 */
export class SampledCounts {
  readonly #capacity: number;
  readonly #counts = new Map<number, number>();
  #threshold = 2 ** 53;

  /** @param capacity maximum number of hashes kept */
  constructor(capacity = 2 ** 18) {
    this.#capacity = capacity;
  }

  /** Whether the hash is new and part of the sample. */
  wants(hash: number): boolean {
    return hash < this.#threshold && !this.#counts.has(hash);
  }

  /** @param hash evenly distributed, below 2^53 */
  set(hash: number, count: number): void {
    if (hash >= this.#threshold) return;
    this.#counts.set(hash, count);
    while (this.#counts.size > this.#capacity) {
      this.#threshold /= 2;
      for (const kept of this.#counts.keys()) {
        if (kept >= this.#threshold) this.#counts.delete(kept);
      }
    }
  }

  /** Sum of the counts, scaled from the sample to all hashes. */
  get total(): number {
    let sum = 0;
    for (const count of this.#counts.values()) sum += count;
    return Math.round(sum * (2 ** 53 / this.#threshold));
  }
}
