import { mismatch } from "../api/answer-match.js";
import { type Finding, firstAnswer, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { cacheKeys } from "../store/cache-key.js";
import type { FindingStore } from "../store/store.js";
import type { LookupWrapper } from "./types.js";

export interface CachedOptions {
  readonly endpoint: LookupEndpoint;
  /** Address or name of the service; answers of different services are stored separately. */
  readonly address: string;
  readonly store: Pick<FindingStore, "get" | "put">;
  /** Whether partial answers are used; otherwise they are looked up again. Default true. */
  readonly partials?: boolean | undefined;
}

/**
 * Answers from the cache; otherwise looks the item up and stores the answer. A cached finding has the
 * source `cache`, and the attempts and time of the run that fetched it.
 *
 * Failures are never stored. A stored answer that names another item is looked up again.
 */
export function cached({ endpoint, address, store, partials }: CachedOptions): LookupWrapper {
  const keyOf = cacheKeys(address, endpoint);
  return (next) => (item, lookupOptions) => {
    const key = keyOf(item);
    const stored = store.get(key);
    if (stored !== null && isUsable(item, stored, partials)) {
      return Promise.resolve({ ...stored, source: "cache" });
    }
    return next(item, lookupOptions).then((finding) => {
      if (finding.status !== "failed") store.put(key, finding);
      return finding;
    });
  };
}

/**
 * Whether a fresh answer of a cache may be used for an item.
 *
 * @param partials whether partial answers are used
 */
export function isUsable(item: Item, stored: Finding, partials = true): boolean {
  if (!partials && stored.status === "partial") return false;
  const answer = firstAnswer(stored);
  return answer === null || mismatch(item, answer.result) === null;
}
