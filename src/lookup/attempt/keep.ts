import type { Attempt, LookupRecord } from "../../core/attempt.js";
import type { LookupEndpoint } from "../../core/finding.js";
import { attemptKey, itemKey } from "../item-key.js";
import type { LookupStore } from "../../store/store.js";
import type { AttemptWrapper, LookupOptions } from "../types.js";

export interface KeepOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: LookupStore;
}

/**
 * Journals each answer while its request's slot is still held. So a kill loses, and a resumed run
 * repeats, no more than what may be open at once. An answer that is asked for again is journalled
 * under a key of its own: a resumed run continues with the attempts that are left.
 */
export function keep({ endpoint, store }: KeepOptions): AttemptWrapper {
  return (next) => async (item, options) => {
    const { asked } = options;
    const put = (attempt: Attempt): Promise<void> | null => {
      asked?.outcomes.push(attempt.outcome);
      if (isFinal(attempt, options)) {
        if (asked !== undefined) asked.journalled = true;
        return store.put(itemKey(endpoint, item), recordOf(summedUp(attempt, options), options));
      }
      // What ends the lookup is stored with the lookup.
      if (attempt.again === null) return null;
      const key = attemptKey(endpoint, item, (asked?.tried.length ?? 0) + 1);
      return store.put(key, recordOf({ ...attempt, drift: [] }, options));
    };
    const attempt = await next(item, options);
    await put(attempt);
    return attempt;
  };
}

/** A record with the row that asked and the requests that no earlier record has. */
export function recordOf(
  { finding, again, drift, body }: Omit<LookupRecord, "origin">,
  { row = null, asked }: RecordedFor,
): LookupRecord {
  const outcomes = asked?.outcomes ?? [];
  if (asked !== undefined) asked.outcomes = [];
  return { finding, again, drift, body, origin: { row, outcomes } };
}

type RecordedFor = { readonly row?: number | null | undefined } & Pick<LookupOptions, "asked">;

/** Whether no later attempt, and no partial answer of an earlier one, changes this finding. */
function isFinal({ again, finding }: Attempt, { asked }: LookupOptions): boolean {
  if (again !== null) return false;
  return finding.status === "complete" || !asked?.tried.some(isPartial);
}

function isPartial({ finding }: Attempt): boolean {
  return finding.status === "partial";
}

/** An attempt whose finding counts those before it. */
function summedUp(attempt: Attempt, { asked }: LookupOptions): Attempt {
  if (asked === undefined || asked.tried.length === 0) return attempt;
  const { finding } = attempt;
  const before = asked.tried.reduce((sum, { finding }) => sum + finding.attempts, 0);
  return { ...attempt, finding: { ...finding, attempts: before + finding.attempts } };
}
