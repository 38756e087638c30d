import {
  eachEndpoint,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { cacheKeys } from "../../client/store/cache-key.js";
import { showsSomething } from "../../client/lookup/combine.js";
import { type CachedOptions, isUsable } from "../../client/lookup/cache.js";
import { isReserved, type Withheld } from "../../client/lookup/withheld.js";
import { KnownItems } from "./rows/known-items.js";

/**
 * Requests per endpoint, keyed by member name. Under `triage`, the number of queries depends on the
 * results of the quick checks.
 */
export type PlannedRequests = Readonly<
  Record<string, number | { readonly least: number; readonly most: number }>
>;

export type CachedAnswers = Omit<CachedOptions, "endpoint">;

/** Looks for usable answers in a cache. */
export function findCached({ address, store, partials }: CachedAnswers): FindAnswer {
  const keys = eachEndpoint((endpoint) => cacheKeys(address, endpoint));
  return async (endpoint, item) => {
    const found = await store.get(keys[endpoint](item));
    return found !== null && isUsable(item, found, partials) ? found : null;
  };
}

/** Looks for an answer that a run would already have. */
export type FindAnswer = (endpoint: LookupEndpoint, item: Item) => Promise<Finding | null>;

interface PlannedItemsOptions {
  readonly withheld: Withheld;
  /** @default nothing is found */
  readonly find: FindAnswer | null;
  /** The endpoints of the given lookups, in the order of `lookupEndpoints`; empty for `triage`. */
  readonly chosen: readonly LookupEndpoint[];
}

/** Counts distinct items and the requests that looking them up would take. */
export class PlannedItems {
  /** Distinct items with a usable answer, by endpoint. */
  readonly cached = eachEndpoint(() => 0);
  rows = 0;
  bogons = 0;
  #unsent = 0;
  readonly #options: PlannedItemsOptions;
  readonly #seen = new KnownItems();
  /** Pending searches for answers, one per item. */
  readonly #open: Promise<void>[] = [];
  /** Queries that triage makes for certain, and those that depend on a quick check. */
  readonly #triage = { certain: 0, possible: 0 };

  constructor(options: PlannedItemsOptions) {
    this.#options = options;
  }

  get distinct(): number {
    return this.#seen.size;
  }

  add(item: Item): void {
    this.rows++;
    const { withheld } = this.#options;
    const isListed = withheld.listOf(item) !== null;
    const sent = isListed ? item : withheld.asSent(item);
    if (!this.#seen.add(sent)) return;
    if (!isListed && isReserved(item)) this.bogons++;
    if (withheld.answer(item) === null) this.#open.push(this.#count(sent));
    else this.#unsent++;
  }

  /** Resolves once every added item is counted. */
  async counted(): Promise<void> {
    await Promise.all(this.#open.splice(0));
  }

  /** Requests to one endpoint, if every item is looked up there. */
  requestsTo(endpoint: LookupEndpoint): number {
    return this.distinct - this.#unsent - this.cached[endpoint];
  }

  /** Requests for each common value of `--lookups`, and for the chosen one. */
  requests(): Record<string, PlannedRequests> {
    const { chosen } = this.#options;
    const { certain, possible } = this.#triage;
    const only = (...asking: readonly LookupEndpoint[]): PlannedRequests =>
      Object.fromEntries(
        lookupEndpoints.map((endpoint) => [
          memberOf(endpoint),
          asking.includes(endpoint) ? this.requestsTo(endpoint) : 0,
        ]),
      );
    return {
      [lookupEndpoints.join(",")]: only(...lookupEndpoints),
      ...(chosen.length > 0 && { [chosen.join(",")]: only(...chosen) }),
      ...eachEndpoint((endpoint) => only(endpoint)),
      triage: { ...only("quick-check"), query: { least: certain, most: certain + possible } },
    };
  }

  async #count(item: Item): Promise<void> {
    const { find } = this.#options;
    const found = find && (await Promise.all(lookupEndpoints.map((name) => find(name, item))));
    const cached = eachEndpoint((endpoint) => found?.[lookupEndpoints.indexOf(endpoint)] ?? null);
    for (const endpoint of lookupEndpoints) if (cached[endpoint] !== null) this.cached[endpoint]++;
    const quickCheck = cached["quick-check"];
    if (cached.query !== null || (quickCheck !== null && !showsSomething(quickCheck))) return;
    this.#triage[quickCheck === null ? "possible" : "certain"]++;
  }
}
