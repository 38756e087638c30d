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

export const caseStates = ["NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"] as const;

export const tagIpsLimit = { min: 1, max: 10_000 } as const;

export const snapshotLength = 24;

/** A text with known values. Any text passes; unknown values are kept and counted as drift. */
export const openEnum = z.string();

/**
 * A date and time (RFC 3339), kept as received. Any text passes, since one odd date is no reason to
 * reject an answer; malformed ones are counted as drift.
 */
export const dateTime = z.string();

/** Repeats the HTTP status. */
const statusCode = z.number().gt(0);

/** Envelope of a full answer: HTTP 200. */
export function successEnvelope<Result extends z.ZodType>(result: Result) {
  return z.looseObject({
    status: z.literal("success"),
    statusCode,
    result,
  });
}

/** Envelope of a partial answer: HTTP 503. */
export function partialSuccessEnvelope<Result extends z.ZodType>(result: Result) {
  return z.looseObject({
    status: z.literal("partial_success"),
    statusCode,
    result,
    errors: z.looseObject({}).optional(),
  });
}

/** Envelope of a rejected request: HTTP 400. */
export const failureEnvelopeSchema = z.looseObject({
  status: z.literal("failure"),
  statusCode,
  errors: z.looseObject({ $: z.string() }),
});
