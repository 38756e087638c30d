import type { LookupRecord } from "../core/attempt.js";
import type { Finding, LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { raceAbort } from "../core/abort.js";
import { attemptKey, itemKey } from "./cache.js";
import { recordOf } from "./attempt/keep.js";
import type { LookupStore } from "../store/store.js";
import type { AskedSoFar, Lookup, LookupOptions, LookupWrapper } from "./types.js";

export interface DedupeOptions {
  /** The endpoint that is asked; answers of different endpoints are kept apart. */
  readonly endpoint: LookupEndpoint;
  /** Keeps what is done. Memory is bounded by what is under way and by the store. */
  readonly store: LookupStore;
  /** The store may have attempts of an earlier part of the run. Default false. */
  readonly isResumed?: boolean | undefined;
}

/** Options of a lookup that is asked here. */
type OwnOptions = LookupOptions & { readonly asked: AskedSoFar };

interface Asked {
  readonly finding: Promise<Finding>;
  readonly signal: AbortSignal;
}

/**
 * Looks each item up once. Callers that arrive while a lookup is in flight share its answer; later
 * callers read it from the store. Both are marked `duplicate` unless the answer came from a cache.
 * The row that asked first gets the answer as its own, also when the run was interrupted in between.
 *
 * A finding is stored before any caller sees it, failures included. Rejections (abort, fatal) are not
 * stored.
 */
export function dedupe({ endpoint, store, isResumed = false }: DedupeOptions): LookupWrapper {
  return (next) => {
    const open = new Map<string, Asked>();

    const lookup: Lookup = (item, options) => {
      const key = itemKey(endpoint, item);
      const asked = open.get(key);
      if (asked) return share(asked, options, () => lookup(item, options));
      const kept = store.get(key);
      if (kept === null) {
        const asked: AskedSoFar = {
          outcomes: [],
          tried: [],
          journalled: false,
          drift: [],
        };
        const own = { signal: options.signal, row: options.row, asked };
        const answer = isResumed ? goOn(item, own) : next(item, own);
        const finding = ask(key, answer, own);
        open.set(key, { finding, signal: options.signal });
        return finding;
      }
      if (!(kept instanceof Promise)) return Promise.resolve(fromStore(kept, options));
      // While the store was busy another may have begun to ask.
      return kept.then((found) => (found ? fromStore(found, options) : lookup(item, options)));
    };

    /** Takes up the attempts of an earlier part of the run. */
    const goOn = async (item: Item, own: OwnOptions): Promise<Finding> => {
      const { tried } = own.asked;
      for (;;) {
        const attempt = await store.get(attemptKey(endpoint, item, tried.length + 1));
        if (attempt === null) return next(item, own);
        tried.push({ ...attempt, outcome: String(attempt.finding.httpStatus) });
      }
    };

    const ask = (key: string, answer: Promise<Finding>, own: OwnOptions): Promise<Finding> =>
      answer.then(
        (finding) => {
          // A cache keeps its own, for longer.
          if (own.asked.journalled || finding.source === "cache") {
            open.delete(key);
            return finding;
          }
          return store
            .put(key, recordOf({ finding, again: null, drift: own.asked.drift }, own))
            .then(() => finding)
            .finally(() => open.delete(key));
        },
        (error: unknown) => {
          open.delete(key);
          throw error;
        },
      );

    return lookup;
  };
}

/** Waits for what another asked. Who asked under a signal of its own may abort alone. */
async function share(
  { finding, signal }: Asked,
  options: LookupOptions,
  askAgain: () => Promise<Finding>,
): Promise<Finding> {
  if (signal === options.signal) return asDuplicate(await finding);
  try {
    return asDuplicate(await raceAbort(finding, options.signal));
  } catch (error) {
    if (signal.aborted && !options.signal.aborted) return askAgain();
    throw error;
  }
}

/** A finding for the row that asked first, or for a later one. */
function fromStore({ finding, origin }: LookupRecord, { row }: LookupOptions): Finding {
  const isFirst = row !== undefined && origin?.row === row;
  return isFirst ? finding : asDuplicate(finding);
}

/** What a cache answered it answers again for every row, whether the first one is done or not. */
function asDuplicate(finding: Finding): Finding {
  if (finding.source === "cache") return finding;
  return { ...finding, source: "duplicate" };
}
