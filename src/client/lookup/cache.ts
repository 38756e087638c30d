import { mismatch } from "../api/answer-match.js";
import { type Finding, firstAnswer, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { cacheKeys } from "../store/cache-key.js";
import type { FindingStore } from "../store/store.js";
import type { Lookup, LookupWrapper } from "./types.js";

/** Number of unwritten answers above which lookups wait for the store. */
const mostUnwritten = 16_384;

export interface CachedOptions {
  readonly endpoint: LookupEndpoint;
  /** Address or name of the service; answers of different services are stored separately. */
  readonly address: string;
  readonly store: FindingStore;
  /** Whether partial answers are used; otherwise they are looked up again. Default true. */
  readonly partials?: boolean | undefined;
}

/**
 * Answers from the cache; otherwise looks the item up and stores the answer. A cached finding has the
 * source `cache`, and the attempts and time of the run that fetched it.
 *
 * Failures are never stored. A stored answer that names another item is looked up again. Writes are
 * not awaited unless too many are pending.
 */
export function cached(options: CachedOptions): LookupWrapper {
  const { endpoint, address, store, partials = true } = options;
  const keyOf = cacheKeys(address, endpoint);
  let unwritten = 0;
  const written = (): void => {
    unwritten--;
  };

  return (next) => {
    const save = (key: string, finding: Finding): Finding | Promise<Finding> => {
      if (finding.status === "failed") return finding;
      unwritten++;
      const done = store.put(key, finding).then(written, written);
      return unwritten > mostUnwritten ? done.then(() => finding) : finding;
    };
    const ask: Lookup = (item, lookupOptions) =>
      next(item, lookupOptions).then((finding) => save(keyOf(item), finding));
    const isUsed = (item: Item, stored: Finding | null): stored is Finding =>
      stored !== null && isUsable(item, stored, partials);
    return (item, lookupOptions) => {
      const stored = store.get(keyOf(item));
      if (stored instanceof Promise) {
        return stored.then((found) =>
          isUsed(item, found) ? fromCache(found) : ask(item, lookupOptions),
        );
      }
      return isUsed(item, stored) ? Promise.resolve(fromCache(stored)) : ask(item, lookupOptions);
    };
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

function fromCache(finding: Finding): Finding {
  return { ...finding, source: "cache" };
}
