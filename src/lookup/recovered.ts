import type { Finding, LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import type { FindingStore } from "./store.js";
import type { LookupWrapper } from "./types.js";

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
 * asked or spent.
 */
export function recovered({ endpoint, store, pathOf, onFound }: RecoveredOptions): LookupWrapper {
  return (next) => (item, options) => {
    const found = store.get(arrivedKey(pathOf(endpoint, item)));
    if (found === null) return next(item, options);
    const orAsked = (finding: Finding | null): Finding | Promise<Finding> => {
      if (finding === null) return next(item, options);
      onFound?.(endpoint, finding);
      return finding;
    };
    return Promise.resolve(found).then(orAsked);
  };
}
