import { mismatch } from "../api/answer-match.js";
import { type Finding, firstAnswer, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { serviceAddress } from "../api/options.js";
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
 * The answers of a cache to one endpoint, by item. Failures are never stored, and a stored answer that
 * names another item is not found.
 */
export function cachedAnswers({ endpoint, address, store, partials = true }: CachedOptions) {
  const service = serviceAddress(address);
  // What follows the endpoint is the same for all endpoints.
  const keyOf = ({ kind, value }: Item) => `${endpoint} ${service} ${kind} ${value}`;
  return {
    get(item: Item): Finding | null {
      const stored = store.get(keyOf(item));
      if (stored === null || (stored.status === "partial" && !partials)) return null;
      const answer = firstAnswer(stored);
      return answer === null || mismatch(item, answer.result) === null ? stored : null;
    },
    put(item: Item, finding: Finding): void {
      if (finding.status !== "failed") store.put(keyOf(item), finding);
    },
  };
}

/**
 * Answers from the cache; otherwise looks the item up and stores the answer. A cached finding has the
 * source `cache`, and the attempts and time of the run that fetched it.
 */
export function cached(options: CachedOptions): LookupWrapper {
  const answers = cachedAnswers(options);
  return (next) => (item, lookupOptions) => {
    const stored = answers.get(item);
    if (stored !== null) return Promise.resolve({ ...stored, source: "cache" });
    return next(item, lookupOptions).then((finding) => {
      answers.put(item, finding);
      return finding;
    });
  };
}
