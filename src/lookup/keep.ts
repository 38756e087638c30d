import type { Finding, LookupEndpoint } from "../core/finding.js";
import { itemKey } from "./item-key.js";
import type { FindingStore } from "./store.js";
import type { LookupOptions, LookupWrapper } from "./types.js";

export interface KeepOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: FindingStore;
}

/**
 * Journals a final answer while its request's slot is still held. So a kill loses, and a resumed run
 * repeats, no more than what may be open at once.
 */
export function keep({ endpoint, store }: KeepOptions): LookupWrapper {
  return (next) => (item, options) => {
    const answer = next(item, options);
    // Without promises that take over another's state: those cost three turns of the queue each.
    return new Promise((resolve, reject) => {
      const put = (finding: Finding): void => {
        options.asked?.outcomes.push(outcomeOf(finding));
        if (!isFinal(finding, options)) return resolve(finding);
        const attempts = (options.asked?.attempts ?? 0) + finding.attempts;
        try {
          const record = journalled({ ...finding, attempts }, options);
          store
            .put(itemKey(endpoint, item), record)
            .then(() => resolve(withoutBody(finding, attempts)), reject);
        } catch (error) {
          reject(error);
        }
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
  return again === undefined && (status === "complete" || asked?.partial !== true);
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
