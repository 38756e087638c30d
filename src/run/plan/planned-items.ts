import { hash } from "node:crypto";
import {
  eachEndpoint,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import { cacheKeys } from "../../store/cache-key.js";
import { isLocalBogon, showsSomething } from "../../lookup/combine.js";
import { isUsable } from "../../lookup/cache.js";
import type { FindingStore } from "../../store/store.js";
import { zeros } from "../tally.js";

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
  readonly bogons: "ask" | "local";
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
  /** Distinct addresses in reserved ranges. */
  bogons = 0;
  readonly #options: PlannedItemsOptions;
  readonly #seen = new DistinctTexts();
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
    this.#open.push(this.#count(item));
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
