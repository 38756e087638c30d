import {
  eachEndpoint,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import { type Item, type ItemKind, itemKinds } from "../../core/item/item.js";
import { cacheKeys } from "../../store/cache/cache-key.js";
import { isLocalBogon } from "../../lookup/local-bogons.js";
import type { FindingStore } from "../../store/store.js";
import { showsSomething } from "../../lookup/triage.js";
import { DistinctTexts } from "../state/distinct-texts.js";

/** What a run would have at hand already. */
export interface PlannedCache {
  /** Address or name of the service, as the run would have it. */
  readonly address: string;
  readonly store: FindingStore;
}

/**
 * Requests of each endpoint, by its member's name. Under `triage` the queries depend on what the quick
 * checks show.
 */
export type PlannedRequests = Readonly<
  Record<string, number | { readonly least: number; readonly most: number }>
>;

export interface PlannedItemsOptions {
  readonly bogons: "ask" | "local";
  readonly cache: PlannedCache | null;
}

type Cached = Finding | null;

/** Counts items, and their requests, as the lookup of a run would meet them. */
export class PlannedItems {
  readonly kinds = Object.fromEntries(itemKinds.map((kind) => [kind, 0])) as Record<
    ItemKind,
    number
  >;
  /** Distinct items whose answer is at hand already, by endpoint. */
  readonly cached = eachEndpoint(() => 0);
  rows = 0;
  /** Distinct addresses in reserved ranges. */
  bogons = 0;
  readonly #options: PlannedItemsOptions;
  readonly #seen = new DistinctTexts();
  readonly #find: (endpoint: LookupEndpoint, item: Item) => Cached | Promise<Cached>;
  /** Looks at the cache that could not be answered at once. */
  #open: Promise<void>[] = [];
  /** Queries that triage makes whatever the quick checks show, and those that it may make. */
  readonly #triage = { certain: 0, possible: 0 };

  constructor(options: PlannedItemsOptions) {
    this.#options = options;
    const { cache } = options;
    if (cache === null) {
      this.#find = () => null;
      return;
    }
    const keys = eachEndpoint((endpoint) => cacheKeys(cache.address, endpoint));
    this.#find = (endpoint, item) => cache.store.get(keys[endpoint](item));
  }

  get distinct(): number {
    return this.#seen.size;
  }

  add(item: Item): void {
    this.rows++;
    this.kinds[item.kind]++;
    if (!this.#seen.add(`${item.kind} ${item.value}`)) return;
    const bogon = isLocalBogon(item);
    if (bogon) this.bogons++;
    if (bogon && this.#options.bogons === "local") return;
    const found = lookupEndpoints.map((endpoint) => this.#find(endpoint, item));
    if (found.some((one) => one instanceof Promise)) {
      const all = Promise.all(found.map((one) => Promise.resolve(one)));
      this.#open.push(all.then((known) => this.#count(known)));
    } else {
      this.#count(found as Cached[]);
    }
  }

  /** Resolves when all that was added is counted. */
  async counted(): Promise<void> {
    const open = this.#open;
    if (open.length === 0) return;
    this.#open = [];
    await Promise.all(open);
  }

  /** Requests under each `--lookups`. */
  requests(): Record<string, PlannedRequests> {
    const asked = this.distinct - (this.#options.bogons === "local" ? this.bogons : 0);
    const { certain, possible } = this.#triage;
    const only = (...chosen: readonly LookupEndpoint[]): PlannedRequests =>
      Object.fromEntries(
        lookupEndpoints.map((endpoint) => [
          memberOf(endpoint),
          chosen.includes(endpoint) ? asked - this.cached[endpoint] : 0,
        ]),
      );
    return {
      [lookupEndpoints.join(",")]: only(...lookupEndpoints),
      ...eachEndpoint((endpoint) => only(endpoint)),
      triage: { ...only("quick-check"), query: { least: certain, most: certain + possible } },
    };
  }

  /** @param found in the cache, in the order of `lookupEndpoints` */
  #count(found: readonly Cached[]): void {
    for (const [index, endpoint] of lookupEndpoints.entries()) {
      if (found[index] !== null) this.cached[endpoint]++;
    }
    if (found[lookupEndpoints.indexOf("query")] !== null) return;
    const quickCheck = found[lookupEndpoints.indexOf("quick-check")] ?? null;
    if (quickCheck === null) this.#triage.possible++;
    else if (showsSomething(quickCheck)) this.#triage.certain++;
  }
}
