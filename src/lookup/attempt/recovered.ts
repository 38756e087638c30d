import { mismatch } from "../../api/answer-match.js";
import { withDrift } from "../../api/finding-drift.js";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { FindingStore } from "../../store/store.js";
import type { LookupWrapper } from "../types.js";

export interface RecoveredOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: FindingStore;
  /** Path of the request for an item; it names the answer. */
  readonly pathOf: (endpoint: LookupEndpoint, item: Item) => string;
  /** Told of each answer that is taken. */
  readonly onFound?: ((endpoint: LookupEndpoint, finding: Finding) => void) | undefined;
}

/** What a store has an answer under that came by its path and was not yet kept for its item. */
export function arrivedKey(path: string): string {
  return `arrived ${path}`;
}

/**
 * Takes the answer that an earlier part of the run had already when it was killed, before anything is
 * asked or spent. An answer for another item is not taken: by its path alone that could not be told.
 */
export function recovered({ endpoint, store, pathOf, onFound }: RecoveredOptions): LookupWrapper {
  return (next) => (item, options) => {
    const found = store.get(arrivedKey(pathOf(endpoint, item)));
    if (found === null) return next(item, options);
    const orAsked = (finding: Finding | null): Finding | Promise<Finding> => {
      if (finding === null || isForeign(item, finding)) return next(item, options);
      onFound?.(endpoint, finding);
      return withDrift(item, finding);
    };
    return Promise.resolve(found).then(orAsked);
  };
}

function isForeign(item: Item, { query, quickCheck }: Finding): boolean {
  const result = query ?? quickCheck;
  return result !== null && mismatch(item, result) !== null;
}
