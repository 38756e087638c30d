import type {
  ObservedActivity,
  QueryResult,
  QuickCheckResult,
} from "../client/api/schema/query-result.js";
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

/** The quick check that agrees with a query. */
export function quickCheckOf(result: QueryResult): QuickCheckResult {
  const { item, type } = result;
  if (result.type === "IP_BOGON") {
    const serviceMailBlocklist = "NOT_LISTED";
    return { item, serviceMailBlocklist, type, bogon: true, intent: "none", activity: false };
  }
  return {
    item,
    serviceMailBlocklist: result.serviceMailBlocklist ?? "NOT_LISTED",
    type,
    bogon: false,
    intent: intentOf(result),
    activity: "observedActivity" in result && wasActive(result.observedActivity),
  };
}

/** Kinds without an `intent` member derive it from the blocklist. */
function intentOf(result: Exclude<QueryResult, { type: "IP_BOGON" }>): string {
  if ("intent" in result) return (result.intent as string | null) ?? "unknown";
  return result.serviceMailBlocklist === "ACTIVE" ? "malicious" : "none";
}

function wasActive(activity: unknown): boolean {
  const observed = activity as ObservedActivity | null;
  if (observed === null) return false;
  return (
    observed.honeypotInteractions.lastSeen !== null ||
    observed.spamtrapInteractions.lastSeen !== null
  );
}
