import { STATUS_CODES } from "node:http";
import { z } from "zod";
import type { Again } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import { asObject, parseExact, parseJson, readJson } from "../../core/json-members.js";
import { schemaFault } from "./schema-fault.js";
import type { ServiceDescription, ServiceName } from "./service-description.js";
import {
  againAfter,
  refusal,
  RejectedError,
  serviceError,
  type ServiceError,
} from "./status-fault.js";
import type { Answer } from "./types.js";

export interface ReadContext {
  readonly service: ServiceDescription;
  readonly clock: Clock;
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };

/**
 * The envelope for each HTTP status, and whether an invalid one is retried. A 200 is retried once, a
 * 400 never; an invalid 503 is retried like any 5xx, since a partial answer is never throttling.
 */
const envelopes = new Map([
  [200, envelope("success", { result: z.unknown() }, once)],
  [400, envelope("failure", { errors: z.looseObject({ $: z.string() }) }, null)],
  [
    503,
    envelope(
      "partial_success",
      { result: z.unknown(), errors: z.looseObject({}).optional() },
      transient,
    ),
  ],
]);

/** @param members besides `status`, and `statusCode`, which repeats the HTTP status */
function envelope(status: string, members: z.ZodRawShape, again: Again | null) {
  const statusCode = z.number().gt(0);
  const schema = z.looseObject({ status: z.literal(status), statusCode, ...members });
  return { status, schema, again };
}

/** Maximum length of the service's error message, in UTF-16 units. */
const longestMessage = 2000;

/**
 * Reads an answer by its status and envelope. Parses the body before judging the status, because a 503
 * may carry data.
 *
 * @returns the result; `text`: the whole envelope, from which `resultText` extracts it; `again`: what to
 *   retry if it turns out to be invalid
 * @throws ServiceError if it has no data, `rejected` for a failure envelope; FatalError for 401 and 403
 */
export function readAnswer(answer: Answer, context: ReadContext, parse = parseJson) {
  const { status } = answer;
  const envelope = envelopes.get(status);
  if (envelope === undefined) {
    if (status < 200 || status > 299) throw statusFault(answer, context);
    throw violation(answer, context, `HTTP ${status} is not a status of the interface`);
  }
  const reading = readJson(answer.body, parse);
  const said = asObject(reading.value)?.["status"];
  if (status !== 200 && said !== envelope.status) throw statusFault(answer, context);
  const { object: body, text } = objectIn(reading, answer, context);
  const fault =
    schemaFault(envelope.schema, body, answer.body.length, "envelope") ??
    (body["statusCode"] === status
      ? null
      : `statusCode is ${String(body["statusCode"])} but the HTTP status is ${status}`);
  if (fault !== null) throw violation(answer, context, fault, envelope.again);
  if (status === 400) {
    const message = String(asObject(body["errors"])?.["$"]).slice(0, longestMessage);
    throw new RejectedError("rejected", message, { httpStatus: 400 });
  }
  return { result: body["result"], text, again: envelope.again };
}

/**
 * Reads the result of a call: in the envelope of the intelligence interface, or the whole body of other
 * services. Returns it as received, including unknown members and member order.
 *
 * @throws ServiceError for any other answer; FatalError for 401 and 403
 */
export function readResult(
  { service, schema }: { readonly service: ServiceName; readonly schema: z.ZodType },
  answer: Answer,
  context: ReadContext,
): unknown {
  const isBare = service !== "intel";
  const { status, body } = answer;
  if (status === 503 || (isBare && status !== 200)) throw statusFault(answer, context);
  const value = isBare
    ? objectIn(readJson(body, parseExact), answer, context).object
    : readAnswer(answer, context, parseExact).result;
  const fault = schemaFault(schema, value, body.length, isBare ? "body" : "result");
  if (fault !== null) throw violation(answer, context, fault);
  return value;
}

/**
 * The object in a body, and its text.
 *
 * @throws ServiceError `response_schema`
 */
function objectIn(reading: ReturnType<typeof readJson>, answer: Answer, context: ReadContext) {
  if (reading.fault !== null) {
    throw violation(answer, context, `the body ${reading.fault}${contentType(answer)}`);
  }
  const object = asObject(reading.value);
  if (object === null) throw violation(answer, context, "the body is not a JSON object");
  return { object, text: reading.text };
}

export function violation(
  { status }: Answer,
  { service }: ReadContext,
  fault: string,
  again: Again | null = once,
): ServiceError {
  const message = `the answer of ${service.name} does not follow the interface: ${fault}`;
  return serviceError("response_schema", message, { httpStatus: status, again });
}

function contentType({ headers }: Answer): string {
  const type = headers["content-type"];
  return typeof type === "string" && /^[\w.+/-]{1,60}/.test(type)
    ? ` (content-type ${type.split(";", 1)[0]?.trim() ?? ""})`
    : "";
}

/**
 * The error for an answer without data. Its status decides the code and whether to retry.
 *
 * @throws FatalError for 401 and 403: no further request can succeed
 */
function statusFault(answer: Answer, { service, clock }: ReadContext): ServiceError {
  const { status } = answer;
  if (status === 401 || status === 403) throw refusal(status, service);
  const again = againAfter(answer, clock);
  const isRedirect = status >= 300 && status < 400;
  const more = isRedirect ? "; redirects are not followed" : "";
  const message = `${service.name} answered ${status}${reason(answer)}${more}`;
  return serviceError(`http_${status}`, message, { httpStatus: status, again });
}

/** Longest body that is searched for a message, in bytes; and the longest message, in UTF-16 units. */
const longestBody = 16 * 1024;
const longestReason = 300;

/** The status text, then the message in the body. */
function reason({ status, body }: Answer): string {
  const name = STATUS_CODES[status];
  const isRead = body[0] === 0x7b && body.length <= longestBody;
  const object = isRead ? asObject(readJson(body).value) : null;
  const message = asObject(object?.["errors"])?.["$"] ?? object?.["message"] ?? object?.["error"];
  const isSaid = typeof message === "string" && message !== "";
  return `${name ? ` ${name}` : ""}${isSaid ? `: ${message.slice(0, longestReason)}` : ""}`;
}
