import { type Finding, unasked } from "../core/finding.js";
import { combineFindings } from "./combine.js";
import type { Lookup, LookupWrapper } from "./types.js";
import { isBogon } from "../core/item/ip.js";
import type { Item } from "../core/item/item.js";

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
