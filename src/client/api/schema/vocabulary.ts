import { z } from "zod";

export const caseStates = ["NEW", "IN_PROGRESS", "RESOLVED", "CLOSED"] as const;

export const tagIpsLimit = { min: 1, max: 10_000 } as const;

export const snapshotLength = 24;

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
