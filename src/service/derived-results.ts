import type { QueryResult } from "../core/endpoints/query.js";
import { isBogon } from "../core/item/ip.js";
import type { Item } from "../core/item/item.js";

/** The answer for an item that the service does not know. */
export function notListed({ kind, value: item }: Item): QueryResult {
  if (kind === "ip") {
    return isBogon(item) ? { item, type: "IP_BOGON", bogon: true } : unknownAddress(item);
  }
  if (kind === "domain") {
    return { item, ...blank, type: "DOMAIN", ...seen, observedActivity: null };
  }
  return { item, ...blank, type: types[kind] };
}

/** The answer for an address of which nothing is known. */
export function unknownAddress(item: string): QueryResult {
  const interactions = { firstSeen: null, lastSeen: null, observations: [] };
  return {
    item,
    ...blank,
    type: "IP",
    bogon: false,
    ...seen,
    reverseDns: { current: null },
    abuseContact: { email: null, status: "UNKNOWN", lastVerification: null },
    asn: { countryCode: null, asn: null, name: null },
    observedActivity: { honeypotInteractions: interactions, spamtrapInteractions: interactions },
  };
}

const blank = { serviceMailBlocklist: "NOT_LISTED" } as const;
const seen = { tags: [], firstSeen: null, lastSeen: null, intent: "none" };
const types = {
  url: "URL",
  sha1: "SHA1",
  crypto_wallet: "CRYPTO_WALLET",
  email: "EMAIL",
} as const;
