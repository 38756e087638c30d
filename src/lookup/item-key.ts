import type { LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";

/** Names a lookup exactly: the endpoint, the kind and the item's normal form. */
export function itemKey(endpoint: LookupEndpoint, item: Item): string {
  return `${endpoint} ${item.kind} ${item.value}`;
}

/** Names one attempt of a lookup that is asked again, counted from 1. */
export function attemptKey(endpoint: LookupEndpoint, item: Item, attempt: number): string {
  return `${endpoint}#${attempt} ${item.kind} ${item.value}`;
}

/** The endpoint that a key of `itemKey` or `attemptKey` begins with. */
export function endpointOf(key: string): string {
  return key.slice(0, key.search(/[ #]/));
}
