import { EarlyEndError } from "../core/errors.js";
import {
  type Finding,
  type FindingSource,
  type FindingStatus,
  type LookupEndpoint,
  unasked,
} from "../core/finding.js";
import { isBogon } from "../core/item/ip.js";
import type { Item } from "../core/item/item.js";
import type { Lookup, LookupWrapper } from "./types.js";

/**
 * Asks several endpoints at once and makes one finding of it. Where the run ends with one of them still
 * open, it is over only when all are: what is in flight is to be kept, not cut off.
 */
export function allLookups(
  lookups: readonly (readonly [endpoint: LookupEndpoint, lookup: Lookup])[],
): Lookup {
  return (item, options) => {
    const asked = lookups.map(([, lookup]) => lookup(item, options));
    return Promise.all(asked).then(
      (findings) =>
        findings.reduce((all, next, index) => combineFindings(all, next, lookups[index]![0])),
      async (error: unknown) => {
        if (options.signal.aborted || error instanceof EarlyEndError) {
          await Promise.allSettled(asked);
        }
        throw error;
      },
    );
  };
}

/**
 * Makes one finding for a row that several endpoints were asked for. The data of all are kept; the
 * worse of the two decides status, HTTP status and error, the first where they are alike.
 */
export function combineFindings(
  first: Finding,
  second: Finding,
  secondEndpoint: LookupEndpoint = "quick-check",
): Finding {
  const bySecond = weight[second.status] > weight[first.status];
  const { status, httpStatus, error } = bySecond ? second : first;
  const name = secondEndpoint.replaceAll("-", " ");
  return {
    status,
    answers: { ...first.answers, ...second.answers },
    missing: first.missing,
    source: sourceOf(first.source, second.source),
    httpStatus,
    attempts: first.attempts + second.attempts,
    lookedUpAt: later(first.lookedUpAt, second.lookedUpAt),
    error:
      error !== null && bySecond
        ? { code: error.code, message: `${name}: ${error.message}` }
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

/**
 * Asks the quick check first, and the query only where the quick check shows something. Where it
 * brought no answer (failed, invalid) or shows nothing, its finding is that of the item.
 */
export function triage(query: Lookup, quickCheck: Lookup): Lookup {
  return (item, options) =>
    quickCheck(item, options).then((quick) =>
      showsSomething(quick)
        ? query(item, options).then((full) => combineFindings(full, quick))
        : quick,
    );
}

/**
 * Whether a quick check is worth a query: it lists the item (`ACTIVE`, `PASSIVE`), gives it an
 * intent of `malicious` or `suspicious`, or saw activity from it.
 */
export function showsSomething({ status, answers }: Finding): boolean {
  const quickCheck = answers["quick-check"]?.result;
  if (status === "failed" || status === "invalid" || quickCheck === undefined) return false;
  const { serviceMailBlocklist: listing, intent, activity } = quickCheck;
  return (
    listing === "ACTIVE" ||
    listing === "PASSIVE" ||
    intent === "malicious" ||
    intent === "suspicious" ||
    activity === true
  );
}

/** Answers addresses in reserved ranges without a request, as the service would answer a query. */
export const localBogons: LookupWrapper = (next) => (item, options) =>
  isLocalBogon(item) ? Promise.resolve(bogonFinding(item)) : next(item, options);

/** Whether an item is an address that needs no request. */
export function isLocalBogon({ kind, value }: Item): boolean {
  return kind === "ip" && isBogon(value);
}

function bogonFinding({ value }: Item): Finding {
  return {
    ...unasked("complete", null),
    answers: { query: { result: { item: value, type: "IP_BOGON", bogon: true } } },
  };
}
