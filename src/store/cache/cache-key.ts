import type { LookupEndpoint } from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import { textHash } from "../text-hash.js";

/**
 * Makes the keys of one endpoint's answers from one service: `endpoint service kind value`. What
 * follows the endpoint is the same for all endpoints.
 */
export function cacheKeys(address: string, endpoint: LookupEndpoint): (item: Item) => string {
  const service = normalAddress(address);
  return (item) => `${endpoint} ${service} ${item.kind} ${item.value}`;
}

/** What the service was asked, `service endpoint`. Both the service's name and the item may hold spaces. */
export function lookupOfKey(key: string): string {
  const [, endpoint, service] = keyParts.exec(key) ?? [];
  return service === undefined ? key : `${service} ${endpoint}`;
}

/** Takes the shortest service that a kind of item follows. */
const keyParts = new RegExp(`^(\\S+) (.*?) (?:${itemKinds.join("|")}) `, "s");

/** One spelling for an address; a name that is no address stays as it is. */
function normalAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  return new URL(address).href.replace(/\/+$/, "");
}

/**
 * A hash of 53 bits, all that a number holds exactly. Entries hold their key, by which those with the
 * same hash are told apart.
 */
export function keyHash(key: string): number {
  const high = textHash(key);
  return (high & 0x1fffff) * 2 ** 32 + textHash(key, high ^ 0x5bd1e995);
}
