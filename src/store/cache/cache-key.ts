import type { LookupEndpoint } from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";
import { itemKey } from "../../lookup/item-key.js";
import { textHash } from "../journal/text-hash.js";

/** Makes the names of one endpoint's lookups at one address: what an answer is kept under. */
export function cacheKeys(address: string, endpoint: LookupEndpoint): (item: Item) => string {
  const service = normalAddress(address);
  return (item) => `${service} ${itemKey(endpoint, item)}`;
}

/** What a key asks whom: `address endpoint`. An address or name may hold spaces, and so may an item. */
export function lookupOfKey(key: string): string {
  return asked.exec(key)?.[1] ?? key;
}

/** The shortest beginning that ends with an endpoint before a kind of item. */
const asked = new RegExp(`^(.*? (?:query|quick-check)) (?:${itemKinds.join("|")}) `, "s");

/** One spelling for an address; a name that is no address stays as it is. */
function normalAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  return new URL(address).href.replace(/\/+$/, "");
}

/** Bytes of a key's hash. */
export const hashBytes = 8;

/**
 * Writes a hash of a key: 64 bits, the first ones with the most influence on where it is kept. Keys
 * with the same hash are told apart by the entry itself.
 */
export function writeKeyHash(key: string, into: Buffer): void {
  const first = textHash(key);
  into.writeUInt32BE(first, 0);
  into.writeUInt32BE(textHash(key, first ^ secondSeed), 4);
}

/** Makes the second half of a hash another one than the first. */
const secondSeed = 0x5bd1e995;
