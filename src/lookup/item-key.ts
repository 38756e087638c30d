import type { LookupEndpoint } from "../core/finding.js";
import type { Item } from "../core/item/item.js";

/** Names a lookup exactly: the endpoint, the kind and the item's normal form. */
export function itemKey(endpoint: LookupEndpoint, item: Item): string {
  return `${endpoint} ${item.kind} ${item.value}`;
}

/** The endpoint that a key of `itemKey` begins with. */
export function endpointOf(key: string): string {
  return key.slice(0, key.indexOf(" "));
}
