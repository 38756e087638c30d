import type { LookupRecord } from "../../core/attempt.js";
import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { AbortGroups, raceAbort } from "../../core/abort.js";
import { ShortLivedMap } from "../../core/short-lived-map.js";
import { recordOf, attemptKey, itemKey } from "./attempt/journalled.js";
import type { LookupStore } from "../store/store.js";
import type { LookupHistory, Lookup, LookupOptions, LookupWrapper } from "./types.js";

interface DedupeOptions {
  readonly endpoint: LookupEndpoint;
  /** Stores findings. Memory is bounded by lookups in flight and by the store. */
  readonly store: LookupStore;
  /** Whether the store may hold attempts of an interrupted run. Default false. */
  readonly isResumed?: boolean | undefined;
}

/** Options of a lookup that this wrapper starts. */
type OwnOptions = LookupOptions & { readonly history: LookupHistory };

interface InFlight {
  readonly finding: Promise<Finding>;
  readonly signal: AbortSignal;
}

/**
 * Looks each item up once. Callers that arrive while a lookup is in flight share its answer; later
 * callers read it from the store. Both are marked `duplicate` unless the answer came from a cache.
 * The row that asked first keeps the original, even across an interruption.
 *
 * A finding is stored before any caller sees it, failures included. Rejections (abort, fatal) are not
 * stored.
 */
export function dedupe({ endpoint, store, isResumed = false }: DedupeOptions): LookupWrapper {
  return (next) => {
    const open = new ShortLivedMap<string, InFlight>();
    const aborts = new AbortGroups();

    const lookup: Lookup = (item, options) => {
      const key = itemKey(endpoint, item);
      const inFlight = open.get(key);
      if (inFlight) return join(inFlight, options, aborts, () => lookup(item, options));
      const record = store.get(key);
      if (record === null) {
        const history: LookupHistory = {
          outcomes: [],
          attempts: [],
          journalled: false,
          drift: [],
        };
        const own = { signal: options.signal, row: options.row, history };
        const answer = isResumed ? replay(item, own) : next(item, own);
        const finding = stored(key, answer, own);
        open.set(key, { finding, signal: options.signal });
        return finding;
      }
      if (!(record instanceof Promise)) return Promise.resolve(fromStore(record, options));
      // Another caller may have started the lookup while the store was read.
      return record.then((found) => (found ? fromStore(found, options) : lookup(item, options)));
    };

    /** Restores the attempts of the interrupted run before continuing. */
    const replay = async (item: Item, own: OwnOptions): Promise<Finding> => {
      const { attempts } = own.history;
      for (;;) {
        const attempt = await store.get(attemptKey(endpoint, item, attempts.length + 1));
        if (attempt === null) return next(item, own);
        attempts.push({ ...attempt, outcome: String(attempt.finding.httpStatus) });
      }
    };

    const stored = (key: string, answer: Promise<Finding>, own: OwnOptions): Promise<Finding> =>
      answer.then(
        (finding) => {
          // A cache stores its findings itself, for longer.
          if (own.history.journalled || finding.source === "cache") {
            open.take(key);
            return finding;
          }
          return store
            .put(key, recordOf({ finding, again: null, drift: own.history.drift }, own))
            .then(() => finding)
            .finally(() => open.take(key));
        },
        (error: unknown) => {
          open.take(key);
          throw error;
        },
      );

    return lookup;
  };
}

/** Waits for a lookup in flight. Callers with different signals abort independently. */
async function join(
  { finding, signal }: InFlight,
  options: LookupOptions,
  aborts: AbortGroups,
  askAgain: () => Promise<Finding>,
): Promise<Finding> {
  if (signal === options.signal) return asDuplicate(await finding);
  try {
    return asDuplicate(await raceAbort(finding, options.signal, undefined, aborts));
  } catch (error) {
    if (signal.aborted && !options.signal.aborted) return askAgain();
    throw error;
  }
}

/** A stored finding, for the row that asked first or for a later one. */
function fromStore({ finding, origin }: LookupRecord, { row }: LookupOptions): Finding {
  // Taken over from another run.
  if (origin === undefined) return { ...finding, source: "cache" };
  const isFirst = row !== undefined && origin.row === row;
  return isFirst ? finding : asDuplicate(finding);
}

/** A cached answer stays `cache` for every row. */
function asDuplicate(finding: Finding): Finding {
  if (finding.source === "cache") return finding;
  return { ...finding, source: "duplicate" };
}
