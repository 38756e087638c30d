import type { Finding } from "../core/finding.js";
import { isBogon } from "../core/item/bogon.js";
import type { Item } from "../core/item/item.js";
import type { LookupWrapper } from "./types.js";

/** Answers addresses in reserved ranges without a request, as the service would answer a query. */
export const localBogons: LookupWrapper = (next) => (item, options) =>
  isLocalBogon(item) ? Promise.resolve(bogonFinding(item)) : next(item, options);

/** Whether an item is an address that needs no request. */
export function isLocalBogon({ kind, value }: Item): boolean {
  return kind === "ip" && isBogon(value);
}

/** Interface: Query result, type IP_BOGON. */
function bogonFinding({ value }: Item): Finding {
  return {
    status: "complete",
    query: { item: value, type: "IP_BOGON", bogon: true },
    quickCheck: null,
    missing: [],
    source: "local",
    httpStatus: null,
    attempts: 0,
    lookedUpAt: null,
    error: null,
  };
}
