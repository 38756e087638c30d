import { AbortGroups, raceAbort } from "../core/abort.js";
import type { Finding, LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { itemKey } from "./cache.js";
import type { LookupWrapper } from "./types.js";

/** Answers that several processes of a run share. */
export interface SharedAnswers {
  /** Whether another process may need the item too. Never wrong when it returns false. */
  isShared(item: Item): boolean;
  /** Resolves to the answer of another process, or to null: then the caller has to ask. */
  claim(key: string): Promise<Finding | null>;
  /** Ends a claim, with the answer or without. */
  settle(key: string, finding: Finding | null): void;
}

/** Asks for an item only if no other process of the run does or did. */
export function askedOnce(endpoint: LookupEndpoint, answers: SharedAnswers): LookupWrapper {
  const aborts = new AbortGroups();
  return (next) => async (item, options) => {
    if (!answers.isShared(item)) return next(item, options);
    const key = itemKey(endpoint, item);
    const claim = answers.claim(key);
    const giveBack = (late: Finding | null): void => {
      if (late === null) answers.settle(key, null);
    };
    const found = await raceAbort(claim, options.signal, giveBack, aborts);
    if (found !== null) {
      return found.source === "cache" ? found : { ...found, source: "duplicate" };
    }
    try {
      const finding = await next(item, options);
      answers.settle(key, finding);
      return finding;
    } catch (error) {
      answers.settle(key, null);
      throw error;
    }
  };
}
