import type { Finding, LookupEndpoint } from "../../core/finding.js";
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

/** Requests of each endpoint. Under `triage` the queries depend on what the quick checks show. */
export interface PlannedRequests {
  readonly query: number | { readonly least: number; readonly most: number };
  readonly quick_check: number;
}

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
  readonly cached = { query: 0, quick_check: 0 };
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
    const keys = {
      query: cacheKeys(cache.address, "query"),
      "quick-check": cacheKeys(cache.address, "quick-check"),
    };
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
    const [query, quickCheck] = [this.#find("query", item), this.#find("quick-check", item)];
    if (query instanceof Promise || quickCheck instanceof Promise) {
      this.#open.push(Promise.all([query, quickCheck]).then((found) => this.#count(...found)));
    } else {
      this.#count(query, quickCheck);
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
    const query = asked - this.cached.query;
    const quickCheck = asked - this.cached.quick_check;
    const { certain, possible } = this.#triage;
    return {
      "query,quick-check": { query, quick_check: quickCheck },
      query: { query, quick_check: 0 },
      "quick-check": { query: 0, quick_check: quickCheck },
      triage: {
        query: { least: certain, most: certain + possible },
        quick_check: quickCheck,
      },
    };
  }

  #count(query: Cached, quickCheck: Cached): void {
    if (query !== null) this.cached.query++;
    if (quickCheck !== null) this.cached.quick_check++;
    if (query !== null) return;
    if (quickCheck === null) this.#triage.possible++;
    else if (showsSomething(quickCheck)) this.#triage.certain++;
  }
}
