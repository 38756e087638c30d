import { z } from "zod";
import type { Again } from "../../core/finding.js";
import type { Clock } from "../../core/clock.js";
import { asObject, parseJson, readJson } from "../../core/json-members.js";
import { schemaFault } from "./schema-fault.js";
import type { ServiceDescription } from "./service-description.js";
import { RejectedError, serviceError, type ServiceError, statusFault } from "./status-fault.js";
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
  const body = asObject(reading.value);
  if (status !== 200 && body?.["status"] !== envelope.status) throw statusFault(answer, context);
  if (reading.fault !== null) {
    throw violation(answer, context, `the body ${reading.fault}${contentType(answer)}`);
  }
  if (body === null) throw violation(answer, context, "the body is not a JSON object");
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
  return { result: body["result"], text: reading.text, again: envelope.again ?? once };
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
