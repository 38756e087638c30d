import {
  eachEndpoint,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import { cacheKeys } from "../../store/cache-key.js";
import { showsSomething } from "../../lookup/combine.js";
import { isUsable } from "../../lookup/cache.js";
import { isReserved, type Withheld } from "../../lookup/withheld.js";
import type { FindingStore } from "../../store/store.js";
import { zeros } from "../../core/row.js";
import { KnownItems } from "../rows/known-items.js";

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

export interface PlannedItemsOptions {
  readonly withheld: Withheld;
  readonly cache: PlannedCache | null;
  /** The endpoints of the given lookups, in the order of `lookupEndpoints`; empty for `triage`. */
  readonly chosen: readonly LookupEndpoint[];
}

/** Counts items and the requests that looking them up would take. */
export class PlannedItems {
  readonly kinds = zeros(itemKinds);
  /** Distinct items with a cached answer, by endpoint. */
  readonly cached = eachEndpoint(() => 0);
  rows = 0;
  bogons = 0;
  /** Rows that each exclusion list holds back, by its path. */
  readonly excluded: Map<string, number>;
  #unsent = 0;
  readonly #options: PlannedItemsOptions;
  readonly #seen = new KnownItems();
  readonly #find: (
    endpoint: LookupEndpoint,
    item: Item,
  ) => Finding | null | Promise<Finding | null>;
  /** Pending cache reads, one per item. */
  readonly #open: Promise<void>[] = [];
  /** Queries that triage makes for certain, and those that depend on a quick check. */
  readonly #triage = { certain: 0, possible: 0 };

  constructor(options: PlannedItemsOptions) {
    this.#options = options;
    const { cache, withheld } = options;
    this.excluded = new Map(withheld.lists.map(({ path }) => [path, 0]));
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
    const { withheld } = this.#options;
    const list = withheld.listOf(item);
    if (list !== null) this.excluded.set(list.path, this.excluded.get(list.path)! + 1);
    const sent = list === null ? withheld.asSent(item) : item;
    if (!this.#seen.add(sent)) return;
    if (list === null && isReserved(item)) this.bogons++;
    if (withheld.answer(item) === null) this.#open.push(this.#count(sent));
    else this.#unsent++;
  }

  /** Resolves once every added item is counted. */
  async counted(): Promise<void> {
    await Promise.all(this.#open.splice(0));
  }

  /** Requests for each common value of `--lookups`, and for the chosen one. */
  requests(): Record<string, PlannedRequests> {
    const { chosen } = this.#options;
    const asked = this.distinct - this.#unsent;
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

  async #count(item: Item): Promise<void> {
    const found = await Promise.all(
      lookupEndpoints.map(async (endpoint) => this.#find(endpoint, item)),
    );
    const cached = eachEndpoint((endpoint) => {
      const answer = found[lookupEndpoints.indexOf(endpoint)] ?? null;
      return answer !== null && isUsable(item, answer) ? answer : null;
    });
    for (const endpoint of lookupEndpoints) if (cached[endpoint] !== null) this.cached[endpoint]++;
    const quickCheck = cached["quick-check"];
    if (cached.query !== null || (quickCheck !== null && !showsSomething(quickCheck))) return;
    this.#triage[quickCheck === null ? "possible" : "certain"]++;
  }
}
