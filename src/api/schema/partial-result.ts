import { z } from "zod";
import {
  cryptoWalletResultSchema,
  domainResultSchema,
  emailResultSchema,
  ipResultSchema,
  sha1ResultSchema,
  urlResultSchema,
} from "./query-result.js";

/**
 * What is known of an IP address while a part of the data is unavailable: every member but `item`
 * and `type` may be null (interface: Partial result). A member that is absent counts as null.
 */
export const partialIpResultSchema = z.looseObject({
  item: ipResultSchema.shape.item,
  serviceMailBlocklist: ipResultSchema.shape.serviceMailBlocklist.optional(),
  type: ipResultSchema.shape.type,
  bogon: ipResultSchema.shape.bogon.nullish(),
  tags: ipResultSchema.shape.tags.nullish(),
  firstSeen: ipResultSchema.shape.firstSeen.optional(),
  lastSeen: ipResultSchema.shape.lastSeen.optional(),
  intent: ipResultSchema.shape.intent.optional(),
  reverseDns: ipResultSchema.shape.reverseDns.nullish(),
  abuseContact: ipResultSchema.shape.abuseContact.nullish(),
  asn: ipResultSchema.shape.asn.nullish(),
  observedActivity: ipResultSchema.shape.observedActivity.nullish(),
});

/** What is known of a domain while a part of the data is unavailable (interface: Partial result). */
export const partialDomainResultSchema = z.looseObject({
  item: domainResultSchema.shape.item,
  serviceMailBlocklist: domainResultSchema.shape.serviceMailBlocklist.optional(),
  type: domainResultSchema.shape.type,
  tags: domainResultSchema.shape.tags.nullish(),
  firstSeen: domainResultSchema.shape.firstSeen.optional(),
  lastSeen: domainResultSchema.shape.lastSeen.optional(),
  intent: domainResultSchema.shape.intent.optional(),
  observedActivity: domainResultSchema.shape.observedActivity.optional(),
});

/**
 * Result of `/query/{item}` with HTTP 503. IP_BOGON is not among its kinds, and the kinds beside IP
 * and DOMAIN are as in the full result (interface: Partial result).
 */
export const partialResultSchema = z.discriminatedUnion("type", [
  partialIpResultSchema,
  partialDomainResultSchema,
  urlResultSchema,
  sha1ResultSchema,
  cryptoWalletResultSchema,
  emailResultSchema,
]);

export type PartialIpResult = z.infer<typeof partialIpResultSchema>;
export type PartialDomainResult = z.infer<typeof partialDomainResultSchema>;
export type PartialResult = z.infer<typeof partialResultSchema>;
