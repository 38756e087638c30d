import { z } from "zod";
import { asObject, readJson } from "../core/read-json.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "./schema/envelope.js";
import { schemaFault } from "./schema-fault.js";
import type { Answer } from "./types.js";

/**
 * What a body came to as an envelope (interface: Envelope).
 *
 * - `none`: it is no envelope of the kind that the HTTP status calls for; `fault` says why.
 * - `broken`: it claims to be that envelope and breaks a rule of it; `fault` says which.
 */
export type EnvelopeReading =
  | {
      readonly is: "success" | "partial_success";
      readonly result: unknown;
      /** The whole envelope; `resultText` takes the result out of it. */
      readonly text: string;
    }
  | { readonly is: "failure"; readonly message: string }
  | { readonly is: "none" | "broken"; readonly fault: string };

const envelopes: ReadonlyMap<number, { readonly status: string; readonly schema: z.ZodType }> =
  new Map([
    [200, { status: "success", schema: successEnvelope(z.unknown()) }],
    [400, { status: "failure", schema: failureEnvelopeSchema }],
    [503, { status: "partial_success", schema: partialSuccessEnvelope(z.unknown()) }],
  ]);

/** Longest text of `errors.$` that is kept, in UTF-16 units. */
const longestMessage = 2000;

/** Reads the body of an answer as the envelope that belongs to its HTTP status. */
export function readEnvelope(answer: Answer): EnvelopeReading {
  const envelope = envelopes.get(answer.status);
  if (envelope === undefined) {
    return { is: "none", fault: `HTTP ${answer.status} is not a status of the interface` };
  }
  const reading = readJson(answer.body);
  if (reading.fault !== null) {
    return { is: "none", fault: `the body ${reading.fault}${contentType(answer)}` };
  }
  const body = asObject(reading.value);
  if (body === null) return { is: "none", fault: "the body is no JSON object" };
  if (body["status"] !== envelope.status) {
    return { is: "none", fault: `status must be ${JSON.stringify(envelope.status)}` };
  }
  const fault = schemaFault(envelope.schema, body, answer.body.length, "envelope");
  if (fault !== null) return { is: "broken", fault };
  if (body["statusCode"] !== answer.status) {
    const statusCode = String(body["statusCode"]);
    return {
      is: "broken",
      fault: `statusCode is ${statusCode} although the HTTP status is ${answer.status}`,
    };
  }
  if (answer.status === 400) {
    const message = asObject(body["errors"])?.["$"];
    return { is: "failure", message: String(message).slice(0, longestMessage) };
  }
  return {
    is: answer.status === 200 ? "success" : "partial_success",
    result: body["result"],
    text: reading.text,
  };
}

function contentType({ headers }: Answer): string {
  const type = headers["content-type"];
  return typeof type === "string" && /^[\w.+/-]{1,60}/.test(type)
    ? ` (content-type ${type.split(";", 1)[0]?.trim() ?? ""})`
    : "";
}
