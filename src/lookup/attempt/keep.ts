import type { Finding, LookupEndpoint } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import { attemptKey, itemKey } from "../item-key.js";
import type { FindingStore } from "../../store/store.js";
import type { LookupOptions, LookupWrapper } from "../types.js";

export interface KeepOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: FindingStore;
}

/**
 * Journals each answer while its request's slot is still held. So a kill loses, and a resumed run
 * repeats, no more than what may be open at once. An answer that is asked for again is journalled
 * under a key of its own: a resumed run goes on with the attempts that are left.
 */
export function keep({ endpoint, store }: KeepOptions): LookupWrapper {
  return (next) => (item, options) => {
    const answer = next(item, options);
    // Without promises that take over another's state: those cost three turns of the queue each.
    return new Promise((resolve, reject) => {
      const put = (finding: Finding): void => {
        options.asked?.outcomes.push(outcomeOf(finding));
        try {
          if (!isFinal(finding, options)) return putAttempt(item, finding, options);
          const attempts = attemptsOf(options) + finding.attempts;
          const record = journalled({ ...finding, attempts }, options);
          store
            .put(itemKey(endpoint, item), record)
            .then(() => resolve(withoutBody(finding, attempts)), reject);
        } catch (error) {
          reject(error);
        }
      };
      const putAttempt = (item: Item, finding: Finding, by: LookupOptions): void => {
        // What ends the lookup is stored with the lookup.
        if (finding.again === undefined) return resolve(finding);
        const key = attemptKey(endpoint, item, (by.asked?.tried.length ?? 0) + 1);
        // Only what the lookup comes to counts as drift.
        const { drift: _, ...attempt } = finding;
        const record = journalled(attempt, by);
        store.put(key, record).then(() => resolve(finding), reject);
      };
      answer.then(put, reject);
    });
  };
}

/** A finding as the journal keeps it: with the row that asked and the requests not kept before. */
export function journalled(finding: Finding, { row = null, asked }: JournalledBy): Finding {
  const outcomes = asked?.outcomes ?? [];
  if (asked !== undefined) asked.outcomes = [];
  return { ...finding, origin: { row, outcomes } };
}

type JournalledBy = { readonly row?: number | null | undefined } & Pick<LookupOptions, "asked">;

/** Whether no later attempt, and no partial answer of an earlier one, changes this finding. */
function isFinal({ again, status }: Finding, { asked }: LookupOptions): boolean {
  return again === undefined && (status === "complete" || !hasPartial(asked?.tried));
}

function hasPartial(tried: readonly Finding[] = []): boolean {
  return tried.some(({ status }) => status === "partial");
}

function attemptsOf({ asked }: LookupOptions): number {
  return (asked?.tried ?? []).reduce((sum, { attempts }) => sum + attempts, 0);
}

function outcomeOf({ outcome, httpStatus }: Finding): string {
  return outcome ?? String(httpStatus);
}

/** The body was for the journal; rows that wait to be written would hold on to it. */
function withoutBody(finding: Finding, keptAt: number): Finding {
  return {
    status: finding.status,
    query: finding.query,
    quickCheck: finding.quickCheck,
    missing: finding.missing,
    source: finding.source,
    httpStatus: finding.httpStatus,
    attempts: finding.attempts,
    lookedUpAt: finding.lookedUpAt,
    error: finding.error,
    keptAt,
    queryText: finding.queryText,
    quickCheckText: finding.quickCheckText,
    bytes: finding.bytes,
  };
}
