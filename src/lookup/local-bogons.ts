import { type Finding, unasked } from "../core/finding.js";
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

function bogonFinding({ value }: Item): Finding {
  return {
    ...unasked("complete", null),
    answers: { query: { result: { item: value, type: "IP_BOGON", bogon: true } } },
  };
}
