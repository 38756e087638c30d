import { z } from "zod";

/**
 * The enumeration values that the interface lists. Others are accepted too: the interface is in beta,
 * and unknown values are kept and counted as drift (see `driftOf`).
 */

export const resultTypes = [
  "IP",
  "IP_BOGON",
  "DOMAIN",
  "URL",
  "SHA1",
  "CRYPTO_WALLET",
  "EMAIL",
] as const;

export type ResultType = (typeof resultTypes)[number];

export function isKnownType(type: unknown): type is ResultType {
  return knownTypes.has(type);
}

const knownTypes: ReadonlySet<unknown> = new Set(resultTypes);

export const abuseContactStatuses = [
  "UNKNOWN",
  "INVALID",
  "RESOLVE_FAILED",
  "CONNECT_FAILED",
  "RECIPIENT_FAILED",
  "WORKING",
] as const;

/** Documented intents. `none` means that nothing is known against the item, not that it is safe. */
export const intents = ["malicious", "suspicious", "unknown", "none"] as const;

/** Documented mail blocklist statuses. */
export const blocklistStatuses = [
  "ACTIVE",
  "ALLOWLIST",
  "INFORMATIONAL",
  "NOT_LISTED",
  "PASSIVE",
] as const;

/** A text with known values. Any text passes; unknown values are kept and counted as drift. */
export const openEnum = z.string();

/**
 * A date and time (RFC 3339), kept as received. Any text passes, since one odd date is no reason to
 * reject an answer; malformed ones are counted as drift.
 */
export const dateTime = z.string();
