import type { QueryResult } from "../api/schema/query-result.js";
import type { Item } from "../core/item/item.js";
import { isBogon } from "../core/item/bogon.js";

/** What the service answers of an item that it knows nothing of (interface: Query result …). */
export function notListed(item: Item): QueryResult {
  const { value } = item;
  switch (item.kind) {
    case "ip":
      return isBogon(value)
        ? { item: value, type: "IP_BOGON", bogon: true }
        : unknownAddress(value);
    case "domain":
      return unknownDomain(value);
    case "url":
      return { item: value, serviceMailBlocklist: "NOT_LISTED", type: "URL" };
    case "sha1":
      return { item: value, serviceMailBlocklist: "NOT_LISTED", type: "SHA1" };
    case "crypto_wallet":
      return { item: value, serviceMailBlocklist: "NOT_LISTED", type: "CRYPTO_WALLET" };
    case "email":
      return { item: value, serviceMailBlocklist: "NOT_LISTED", type: "EMAIL" };
  }
}

function unknownAddress(item: string): QueryResult {
  return {
    item,
    serviceMailBlocklist: "NOT_LISTED",
    type: "IP",
    bogon: false,
    tags: [],
    firstSeen: null,
    lastSeen: null,
    intent: "none",
    reverseDns: { current: null },
    abuseContact: { email: null, status: "UNKNOWN", lastVerification: null },
    asn: { countryCode: null, asn: null, name: null },
    observedActivity: {
      honeypotInteractions: { firstSeen: null, lastSeen: null, observations: [] },
      spamtrapInteractions: { firstSeen: null, lastSeen: null, observations: [] },
    },
  };
}

function unknownDomain(item: string): QueryResult {
  return {
    item,
    serviceMailBlocklist: "NOT_LISTED",
    type: "DOMAIN",
    tags: [],
    firstSeen: null,
    lastSeen: null,
    intent: "none",
    observedActivity: null,
  };
}
