import { z } from "zod";

/**
 * The values that the interface names for its enumerations. They are known values, not the only
 * ones that pass: the interface is in beta, and an unknown value is data that is kept and counted
 * as drift (see `driftOf`).
 */

/** The kinds of query result, told apart by `type` (interface: Endpoints, Lookup). */
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

/** Mail blocklist status of an item (interface: Query result, type IP (full), serviceMailBlocklist). */
export const blocklistStatuses = [
  "ACTIVE",
  "ALLOWLIST",
  "INFORMATIONAL",
  "NOT_LISTED",
  "PASSIVE",
] as const;

/**
 * Intent of what was seen from an item (interface: Query result, type IP (full), intent). `none`
 * means that nothing is known against the item; it is neither a finding nor "safe".
 */
export const intents = ["malicious", "suspicious", "unknown", "none"] as const;

/** Whether an abuse mailbox works (interface: Query result, type IP (full), abuseContact). */
export const abuseContactStatuses = [
  "UNKNOWN",
  "INVALID",
  "RESOLVE_FAILED",
  "CONNECT_FAILED",
  "RECIPIENT_FAILED",
  "WORKING",
] as const;

/** States of a reputation-share case (interface: States and transitions). */
export const caseStates = ["NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"] as const;

/** Categories of a tag. The interface shows none; these are what the deployed service is known to use. */
export const tagCategories = ["activity", "tool", "actor", "none"] as const;

/** Entries that one page of a tag IP list may have (interface: Limits). */
export const tagIpsLimit = { min: 1, max: 10_000 } as const;

/** Characters of a snapshot token (interface: Limits). */
export const snapshotLength = 24;

/**
 * A text with known values. Any text passes: an unknown value is kept and counted as drift. The
 * known values stand in the generated documents as `x-known-values`.
 */
export function openEnum(values: readonly string[], description: string) {
  return z.string().meta({ description, "x-known-values": values });
}

/**
 * A date and time, RFC 3339, kept as received. Any text passes, because a whole answer is worth
 * more than one date; what is no date-time is counted as drift.
 */
export function dateTime(description: string) {
  return z.string().meta({ description, format: "date-time" });
}

/** A text. */
export function text(description: string) {
  return z.string().meta({ description });
}

/** Envelope of an answer in full: HTTP 200 (interface: Envelope). */
export function successEnvelope<Result extends z.ZodType>(result: Result) {
  return z.looseObject({
    status: z.literal("success").describe("Outcome of the request (interface: Envelope)"),
    statusCode: statusCode(),
    result,
  });
}

/** Envelope of an answer of which a part was unavailable: HTTP 503 (interface: Envelope, Errors). */
export function partialSuccessEnvelope<Result extends z.ZodType>(result: Result) {
  return z.looseObject({
    status: z.literal("partial_success").describe("Outcome of the request (interface: Envelope)"),
    statusCode: statusCode(),
    result,
    errors: z.looseObject({}).optional().describe("An empty object (interface: Envelope)"),
  });
}

/** Envelope of a refused request: HTTP 400 (interface: Envelope, Errors). */
export const failureEnvelopeSchema = z.looseObject({
  status: z.literal("failure").describe("Outcome of the request (interface: Envelope)"),
  statusCode: statusCode(),
  errors: z
    .looseObject({ $: text("What is wrong, for a person (interface: Envelope, errors)") })
    .describe("Why the request failed (interface: Envelope)"),
});

function statusCode() {
  return z
    .number()
    .gt(0)
    .describe("The HTTP status once more; greater than 0 (interface: Envelope, statusCode)");
}
