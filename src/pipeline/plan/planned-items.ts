import { hash } from "node:crypto";
import {
  eachEndpoint,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import { cacheKeys } from "../../store/cache/cache-key.js";
import { isLocalBogon, showsSomething } from "../../lookup/combine.js";
import { isUsable } from "../../lookup/cache.js";
import type { FindingStore, StoredFinding } from "../../store/store.js";
import { ExpiryTimes } from "./expiry-times.js";
import { PlannedOrder } from "./planned-order.js";
import { expiredRank } from "../../store/cache/expired-rank.js";
import { zeros } from "../run/tally.js";

/** Answers that a run would already have. */
export interface PlannedCache {
  /** Address or name of the service, as the run would use it. */
  readonly address: string;
  readonly store: FindingStore;
}

/**
 * Requests per endpoint, keyed by member name. Under `triage`, the number of queries depends on the
 * results of the quick checks.
 */
export type PlannedRequests = Readonly<
  Record<string, number | { readonly least: number; readonly most: number }>
>;

type Stored = StoredFinding | null;

export interface PlannedItemsOptions {
  readonly bogons: "ask" | "local";
  readonly cache: PlannedCache | null;
  /** The endpoints of the given lookups, in the order of `lookupEndpoints`; empty for `triage`. */
  readonly chosen: readonly LookupEndpoint[];
  /** Expired answers are asked for first. */
  readonly isWorstFirst: boolean;
}

/** Counts items and the requests that looking them up would take. */
export class PlannedItems {
  readonly kinds = zeros(itemKinds);
  /** Distinct items with a cached answer, by endpoint. */
  readonly cached = eachEndpoint(() => 0);
  /** Distinct items with an expired answer, by endpoint. */
  readonly expired = eachEndpoint(() => 0);
  /** When the fresh answers of the given lookups expire. */
  readonly expiries = new ExpiryTimes();
  readonly order: PlannedOrder;
  rows = 0;
  /** Distinct addresses in reserved ranges. */
  bogons = 0;
  readonly #options: PlannedItemsOptions;
  readonly #seen = new DistinctTexts();
  readonly #find: (endpoint: LookupEndpoint, item: Item) => Stored | Promise<Stored>;
  /** Pending cache reads, one per item. */
  readonly #open: Promise<void>[] = [];
  /** Queries that triage makes for certain, and those that depend on a quick check. */
  readonly #triage = { certain: 0, possible: 0 };

  constructor(options: PlannedItemsOptions) {
    this.#options = options;
    this.order = new PlannedOrder(options.isWorstFirst);
    const { cache } = options;
    const stored = cache?.store.stored?.bind(cache.store);
    if (cache === null || stored === undefined) {
      this.#find = () => null;
      return;
    }
    const keys = eachEndpoint((endpoint) => cacheKeys(cache.address, endpoint));
    this.#find = (endpoint, item) => stored(keys[endpoint](item));
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
    this.#open.push(this.#count(item, this.order.next()));
  }

  /** Resolves once every added item is counted. */
  async counted(): Promise<void> {
    await Promise.all(this.#open.splice(0));
  }

  /** Requests for each common value of `--lookups`, and for the chosen one. */
  requests(): Record<string, PlannedRequests> {
    const { chosen, bogons } = this.#options;
    const asked = this.distinct - (bogons === "local" ? this.bogons : 0);
    const { certain, possible } = this.#triage;
    const only = (...asking: readonly LookupEndpoint[]): PlannedRequests =>
      Object.fromEntries(
        lookupEndpoints.map((endpoint) => [
          memberOf(endpoint),
          asking.includes(endpoint) ? asked - this.cached[endpoint] : 0,
        ]),
      );
    return {
      [lookupEndpoints.join(",")]: only(...lookupEndpoints),
      ...(chosen.length > 0 && { [chosen.join(",")]: only(...chosen) }),
      ...eachEndpoint((endpoint) => only(endpoint)),
      triage: { ...only("quick-check"), query: { least: certain, most: certain + possible } },
    };
  }

  async #count(item: Item, place: number): Promise<void> {
    const found = await Promise.all(
      lookupEndpoints.map(async (endpoint) => this.#find(endpoint, item)),
    );
    const storedOf = (endpoint: LookupEndpoint): Stored =>
      found[lookupEndpoints.indexOf(endpoint)] ?? null;
    const isFresh = (endpoint: LookupEndpoint): boolean => {
      const stored = storedOf(endpoint);
      return stored !== null && stored.freshMs > 0 && isUsable(item, stored.finding);
    };
    for (const endpoint of lookupEndpoints) {
      if (isFresh(endpoint)) this.cached[endpoint]++;
      else if (isExpired(storedOf(endpoint))) this.expired[endpoint]++;
    }
    const quickCheck = isFresh("quick-check") ? storedOf("quick-check") : null;
    const isLeading = quickCheck === null || showsSomething(quickCheck.finding);
    if (!isFresh("query") && isLeading) {
      this.#triage[quickCheck === null ? "possible" : "certain"]++;
    }
    const { chosen } = this.#options;
    const asked = chosen.length > 0 ? chosen : lookupEndpoints;
    const needed = asked.filter((endpoint) => !isFresh(endpoint));
    for (const endpoint of asked) {
      if (isFresh(endpoint)) this.expiries.add(storedOf(endpoint)!.freshMs);
    }
    const requests =
      chosen.length > 0 || isLeading ? needed.length : needed.filter((e) => e !== "query").length;
    this.order.set(place, requests, expiredRank(asked.map(storedOf).filter(isExpired)));
  }
}

function isExpired(stored: Stored): stored is StoredFinding {
  return stored !== null && stored.freshMs <= 0;
}

/**
 * Counts distinct texts in about 64 bytes each, by the first 128 bits of their SHA-256. With 10^9
 * texts, the probability of any collision is below 10^-20.
 */
export class DistinctTexts {
  /** A Set holds at most 2^24 entries, so digests are spread over 256 sets by their first byte. */
  readonly #sets = Array.from({ length: 256 }, () => new Set<string>());
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns true if the text is new. */
  add(text: string): boolean {
    const digest = hash("sha256", text, "buffer").toString("latin1", 0, 16);
    const set = this.#sets[digest.charCodeAt(0)]!;
    if (set.has(digest)) return false;
    set.add(digest);
    this.#size++;
    return true;
  }
}
