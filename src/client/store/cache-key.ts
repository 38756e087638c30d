import { type LookupEndpoint, lookupEndpoints } from "../../core/finding.js";
import { seededHash } from "../../core/seeded-hash.js";

/** The endpoint with which the key of an answer begins. */
export function endpointOf(key: string): LookupEndpoint {
  return lookupEndpoints.find((endpoint) => key.startsWith(endpoint)) ?? "query";
}

/**
 * The address of a service without user name, password and query, which may be secrets. Spellings of the
 * same address share one. Anything that isn't a URL is returned unchanged.
 */
export function serviceAddress(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/\/+$/, "");
}

/**
 * A 53-bit hash, the widest integer a JavaScript number holds exactly. Entries store their key,
 * which tells collisions apart.
 */
export function keyHash(key: string): number {
  const high = seededHash(0, key);
  return (high & 0x1fffff) * 2 ** 32 + seededHash(high ^ 0x5bd1e995, key);
}
