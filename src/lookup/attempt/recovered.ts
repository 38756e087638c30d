import { driftFor, mismatch } from "../../api/answer-match.js";
import type { Attempt, LookupRecord } from "../../core/attempt.js";
import { firstAnswer, type Finding, type LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { LookupStore } from "../../store/store.js";
import type { AttemptWrapper } from "../types.js";

export interface RecoveredOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: LookupStore;
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
export function recovered({ endpoint, store, pathOf, onFound }: RecoveredOptions): AttemptWrapper {
  return (next) => (item, options) => {
    const found = store.get(arrivedKey(pathOf(endpoint, item)));
    if (found === null) return next(item, options);
    const orAsked = (record: LookupRecord | null): Attempt | Promise<Attempt> => {
      if (record === null) return next(item, options);
      const { finding } = record;
      const result = firstAnswer(finding)?.result ?? null;
      if (result !== null && mismatch(item, result) !== null) return next(item, options);
      onFound?.(endpoint, finding);
      const drift = result === null ? [] : driftFor(item, result);
      return { finding, outcome: String(finding.httpStatus), again: null, drift };
    };
    return Promise.resolve(found).then(orAsked);
  };
}
