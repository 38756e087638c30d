import { hash } from "node:crypto";
import {
  eachEndpoint,
  type Finding,
  type LookupEndpoint,
  lookupEndpoints,
  memberOf,
} from "../../core/finding.js";
import { type Item, type ItemKind, itemKinds } from "../../core/item/item.js";
import { cacheKeys } from "../../store/cache/cache-key.js";
import { isLocalBogon, showsSomething } from "../../lookup/combine.js";
import type { FindingStore } from "../../store/store.js";

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
  readonly #bogons: "ask" | "local";
  readonly #seen = new DistinctTexts();
  readonly #find: (endpoint: LookupEndpoint, item: Item) => Cached | Promise<Cached>;
  /** Items that are looked up in the cache. */
  readonly #open: Promise<void>[] = [];
  /** Queries that triage makes whatever the quick checks show, and those that it may make. */
  readonly #triage = { certain: 0, possible: 0 };

  constructor(bogons: "ask" | "local", cache: PlannedCache | null) {
    this.#bogons = bogons;
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
    if (bogon && this.#bogons === "local") return;
    this.#open.push(this.#count(item));
  }

  /** Resolves when all that was added is counted. */
  async counted(): Promise<void> {
    await Promise.all(this.#open.splice(0));
  }

  /**
   * Requests under each common `--lookups`, and under those that are chosen.
   *
   * @param chosen in the order of `lookupEndpoints`; none for `triage`
   */
  requests(chosen: readonly LookupEndpoint[]): Record<string, PlannedRequests> {
    const asked = this.distinct - (this.#bogons === "local" ? this.bogons : 0);
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
    const answerOf = (endpoint: LookupEndpoint): Cached =>
      found[lookupEndpoints.indexOf(endpoint)] ?? null;
    for (const endpoint of lookupEndpoints) {
      if (answerOf(endpoint) !== null) this.cached[endpoint]++;
    }
    if (answerOf("query") !== null) return;
    const quickCheck = answerOf("quick-check");
    if (quickCheck === null) this.#triage.possible++;
    else if (showsSomething(quickCheck)) this.#triage.certain++;
  }
}

/**
 * Counts distinct texts in about 64 bytes each, by the first 128 bits of their SHA-256. With a
 * thousand million texts the chance that any two are taken for one is below 1 in 10^20.
 */
export class DistinctTexts {
  /** A set holds 2^24 texts at most; these are told apart by their first byte. */
  readonly #sets = Array.from({ length: 256 }, () => new Set<string>());
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** True when the text was not there before. */
  add(text: string): boolean {
    const digest = hash("sha256", text, "buffer").toString("latin1", 0, 16);
    const set = this.#sets[digest.charCodeAt(0)]!;
    if (set.has(digest)) return false;
    set.add(digest);
    this.#size++;
    return true;
  }
}
