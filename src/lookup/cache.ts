import { mismatch } from "../api/answer-match.js";
import { type Finding, firstAnswer, type LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { cacheKeys } from "../store/cache/cache-key.js";
import type { FindingStore } from "../store/store.js";
import type { Lookup, LookupWrapper } from "./types.js";

/** Answers that may wait to be written before lookups wait for them. */
const mostUnwritten = 16_384;

export interface CachedOptions {
  /** The endpoint that is asked; answers of different endpoints are kept apart. */
  readonly endpoint: LookupEndpoint;
  /** Address of the service, or a name for it; answers of different services are kept apart. */
  readonly address: string;
  /** What earlier runs, and others, kept: `openCache`. */
  readonly store: FindingStore;
  /** False: partial answers are asked for again, whatever their age. Default true. */
  readonly partials?: boolean | undefined;
}

/**
 * Answers from what was asked before, by whatever run; asks and keeps the answer otherwise. Such a
 * finding has the source `cache`; its attempts and its time are those of the run that asked.
 *
 * A failure is never kept, and an answer that is there for another item (earlier versions did not
 * compare them) is asked for again. Nobody waits for an answer to be written, unless very many do.
 */
export function cached(options: CachedOptions): LookupWrapper {
  const { endpoint, address, store, partials = true } = options;
  const keyOf = cacheKeys(address, endpoint);
  let unwritten = 0;
  const written = (): void => {
    unwritten--;
  };

  return (next) => {
    const keep = (key: string, finding: Finding): Finding | Promise<Finding> => {
      if (finding.status === "failed") return finding;
      unwritten++;
      const done = store.put(key, finding).then(written, written);
      return unwritten > mostUnwritten ? done.then(() => finding) : finding;
    };
    const ask: Lookup = (item, lookupOptions) =>
      next(item, lookupOptions).then((finding) => keep(keyOf(item), finding));
    const isUsed = (item: Item, kept: Finding | null): kept is Finding => {
      if (kept === null || (!partials && kept.status === "partial")) return false;
      const answer = firstAnswer(kept);
      return answer === null || mismatch(item, answer.result) === null;
    };
    return (item, lookupOptions) => {
      const kept = store.get(keyOf(item));
      if (kept instanceof Promise) {
        return kept.then((found) =>
          isUsed(item, found) ? fromCache(found) : ask(item, lookupOptions),
        );
      }
      return isUsed(item, kept) ? Promise.resolve(fromCache(kept)) : ask(item, lookupOptions);
    };
  };
}

function fromCache(finding: Finding): Finding {
  return { ...finding, source: "cache" };
}

/** Names a lookup exactly: the endpoint, the kind and the item's normal form. */
export function itemKey(endpoint: LookupEndpoint, item: Item): string {
  return `${endpoint} ${item.kind} ${item.value}`;
}

/** Names one attempt of a lookup that is asked again, counted from 1. */
export function attemptKey(endpoint: LookupEndpoint, item: Item, attempt: number): string {
  return `${endpoint}#${attempt} ${item.kind} ${item.value}`;
}

/** The endpoint that a key of `itemKey` or `attemptKey` begins with. */
export function endpointOf(key: string): string {
  return key.slice(0, key.search(/[ #]/));
}
