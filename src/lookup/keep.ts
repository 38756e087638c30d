import type { Finding, LookupEndpoint } from "../core/finding.js";
import { itemKey } from "./item-key.js";
import type { FindingStore } from "./store.js";
import type { LookupWrapper } from "./types.js";

export interface KeepOptions {
  readonly endpoint: LookupEndpoint;
  readonly store: FindingStore;
}

/**
 * Puts a final answer into the store while its request's slot is still held. So what a kill can
 * lose, and a resumed run asks again, is never more than what may be open at once.
 */
export function keep({ endpoint, store }: KeepOptions): LookupWrapper {
  return (next) => (item, options) => {
    const answer = next(item, options);
    // Without promises that take over another's state: those cost three turns of the queue each.
    return new Promise((resolve, reject) => {
      const put = (finding: Finding): void => {
        if (finding.again !== undefined) return resolve(finding);
        try {
          store.put(itemKey(endpoint, item), finding).then(() => resolve(kept(finding)), reject);
        } catch (error) {
          reject(error);
        }
      };
      answer.then(put, reject);
    });
  };
}

/** The body was for the store; rows that wait to be written would hold on to it. */
function kept(finding: Finding): Finding {
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
    keptAt: finding.attempts,
    queryText: finding.queryText,
    quickCheckText: finding.quickCheckText,
    bytes: finding.bytes,
  };
}
