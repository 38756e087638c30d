import type { z } from "zod";
import {
  type DomainResult,
  type IpResult,
  type QueryResult,
  results,
} from "../core/endpoints/query.js";
import { isBogon } from "../core/item/ip.js";
import type { Item } from "../core/item/item.js";

export function notListed({ kind, value: item }: Item): QueryResult {
  if (kind === "ip") {
    return isBogon(item) ? { item, type: "IP_BOGON", bogon: true } : unknownAddress(item);
  }
  if (kind === "domain") return unknownDomain(item);
  return { item, ...blank, type: types[kind] };
}

export function unknownDomain(item: string): DomainResult {
  return { ...nullable.domain, item, ...blank, type: "DOMAIN", ...seen };
}

export function unknownAddress(item: string): IpResult {
  const interactions = { firstSeen: null, lastSeen: null, observations: [] };
  return {
    ...nullable.address,
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

type Nulls<Shape extends Readonly<Record<string, z.ZodType>>> = {
  [Member in keyof Shape as null extends z.output<Shape[Member]> ? Member : never]: null;
};

/** The members of a result that may be null, as null. */
function nulls<Shape extends Readonly<Record<string, z.ZodType>>>({
  shape,
}: z.ZodObject<Shape, z.core.$loose>): Nulls<Shape> {
  const names = Object.keys(shape).filter((name) => shape[name]!.safeParse(null).success);
  return Object.fromEntries(names.map((name) => [name, null])) as Nulls<Shape>;
}

const nullable = { domain: nulls(results.DOMAIN), address: nulls(results.IP) };
const blank = { serviceMailBlocklist: "NOT_LISTED" } as const;
const seen = { tags: [], firstSeen: null, lastSeen: null, intent: "none" };
const types = {
  url: "URL",
  sha1: "SHA1",
  crypto_wallet: "CRYPTO_WALLET",
  email: "EMAIL",
} as const;
