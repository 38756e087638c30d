import { z } from "zod";
import { text } from "./field.js";

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
