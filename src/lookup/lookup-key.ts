import { type LookupEndpoint, lookupEndpoints } from "../core/finding.js";
import type { Item } from "../core/item/item.js";

export function itemKey(endpoint: LookupEndpoint, item: Item): string {
  return `${endpoint} ${item.kind} ${item.value}`;
}

/** Key of one attempt of a retried lookup, counted from 1. */
export function attemptKey(endpoint: LookupEndpoint, item: Item, attempt: number): string {
  return `${endpoint}#${attempt} ${item.kind} ${item.value}`;
}

/** The endpoint in a key made by `itemKey` or `attemptKey`. */
export function endpointOf(key: string): LookupEndpoint {
  return lookupEndpoints.find((endpoint) => key.startsWith(endpoint))!;
}
