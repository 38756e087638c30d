import type { LookupEndpoint } from "../../core/finding.js";
import { type Item, itemKinds } from "../../core/item/item.js";

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

/**
 * A number from 0 to 2^32 - 1 that spreads texts evenly (FNV-1a with the finalizer of MurmurHash3).
 * For tables that check what they find: different texts may have the same number.
 *
 * @param seed another one gives another number, for hashes of more than 32 bits
 */
export function textHash(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
