import { EarlyEndError } from "../core/errors.js";
import type { Finding, FindingSource, FindingStatus } from "../core/finding.js";
import type { Lookup } from "./types.js";

/**
 * Asks both endpoints at once and makes one finding of it. Where the run ends with one of them still
 * open, it is over only when both are: what is in flight is to be kept, not cut off.
 */
export function bothLookups(query: Lookup, quickCheck: Lookup): Lookup {
  return (item, options) => {
    const both = [query(item, options), quickCheck(item, options)] as const;
    return Promise.all(both).then(
      ([full, quick]) => combineFindings(full, quick),
      async (error: unknown) => {
        if (options.signal.aborted || error instanceof EarlyEndError) {
          await Promise.allSettled(both);
        }
        throw error;
      },
    );
  };
}

/**
 * Makes one finding for a row that both endpoints were asked for. The data of both are kept; the
 * worse of the two decides status, HTTP status and error, the query where they are alike.
 */
export function combineFindings(query: Finding, quickCheck: Finding): Finding {
  const byQuickCheck = weight[quickCheck.status] > weight[query.status];
  const deciding = byQuickCheck ? quickCheck : query;
  const { error } = deciding;
  return {
    status: deciding.status,
    answers: { ...query.answers, ...quickCheck.answers },
    missing: query.missing,
    source: sourceOf(query.source, quickCheck.source),
    httpStatus: deciding.httpStatus,
    attempts: query.attempts + quickCheck.attempts,
    lookedUpAt: later(query.lookedUpAt, quickCheck.lookedUpAt),
    error:
      error !== null && byQuickCheck
        ? { code: error.code, message: `quick check: ${error.message}` }
        : error,
  };
}

/** The heavier one decides. */
const weight: Readonly<Record<FindingStatus, number>> = {
  complete: 0,
  partial: 1,
  unsupported: 2,
  invalid: 3,
  failed: 4,
};

/** `live` where anything was asked for; else where the data came from, farthest first. */
function sourceOf(one: FindingSource, other: FindingSource): FindingSource {
  if (one === other) return one;
  return sources.find((source) => source === one || source === other) ?? one;
}

const sources: readonly FindingSource[] = ["live", "cache", "duplicate", "local"];

/** RFC 3339 in UTC with the same number of digits sorts as text. */
function later(one: string | null, other: string | null): string | null {
  if (one === null || other === null) return one ?? other;
  return one > other ? one : other;
}
