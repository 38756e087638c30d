import { z } from "zod";
import type { Again } from "../core/attempt.js";
import type { Clock } from "../core/clock.js";
import { asObject, readJson } from "../core/json-members.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "./schema/vocabulary.js";
import { schemaFault } from "./schema-fault.js";
import type { ServiceDescription } from "./service-description.js";
import { refusal, RejectedError, serviceError, ServiceError, statusFault } from "./status-fault.js";
import type { Answer } from "./types.js";
import { saysAuthenticationFailed } from "./options.js";

export interface ReadContext {
  readonly service: ServiceDescription;
  readonly clock: Clock;
}

/** The data in an answer of the intelligence interface. */
export interface AnswerData {
  readonly result: unknown;
  /** The whole envelope; `resultText` extracts the result. */
  readonly text: string;
  /** What to retry if the result turns out to be invalid. */
  readonly again: Again;
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };

/**
 * The envelope for each HTTP status, and whether an invalid one is retried. A 200 is retried once, a
 * 400 never; an invalid 503 is retried like any 5xx, since a partial answer is never throttling.
 */
const envelopes = new Map<
  number,
  { readonly status: string; readonly schema: z.ZodType; readonly again: Again | null }
>([
  [200, { status: "success", schema: successEnvelope(z.unknown()), again: once }],
  [400, { status: "failure", schema: failureEnvelopeSchema, again: null }],
  [
    503,
    {
      status: "partial_success",
      schema: partialSuccessEnvelope(z.unknown()),
      again: transient,
    },
  ],
]);

/** Maximum length of the service's error message, in UTF-16 units. */
const longestMessage = 2000;

/**
 * Reads an answer by its status and envelope. Parses the body before judging the status, because a 503
 * may carry data.
 *
 * @throws ServiceError if it has no data, `rejected` for a failure envelope; FatalError for 401 and 403
 */
export function readAnswer(answer: Answer, context: ReadContext): AnswerData {
  const { status } = answer;
  const envelope = envelopes.get(status);
  if (envelope === undefined) {
    if (status < 200 || status > 299) throw statusFault(answer, context);
    throw violation(answer, context, `HTTP ${status} is not a status of the interface`);
  }
  const reading = readJson(answer.body);
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

/** The error of an answer that doesn't follow the interface. */
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
 * The enveloped result of a call to the intelligence interface other than a lookup. Returned as
 * received, including unknown members and member order.
 *
 * @throws ServiceError for any other answer; FatalError for 401 and 403
 */
export function readResult(schema: z.ZodType, answer: Answer, context: ReadContext): unknown {
  if (answer.status === 503) throw statusFault(answer, context);
  const { result } = readAnswer(answer, context);
  return checked(schema, result, answer, context, "result");
}

/**
 * The body of an answer without an envelope (operations, case context).
 *
 * @throws ServiceError for any other answer; FatalError for 401, 403, and a body that says
 *   `Authentication Failed` with any status
 */
export function readBare(schema: z.ZodType, answer: Answer, context: ReadContext): unknown {
  try {
    if (answer.status !== 200) throw statusFault(answer, context);
    const { value, fault } = readJson(answer.body);
    if (fault !== null) throw violation(answer, context, `the body ${fault}`);
    if (asObject(value) === null) {
      throw violation(answer, context, "the body is not a JSON object");
    }
    return checked(schema, value, answer, context, "body");
  } catch (error) {
    if (!(error instanceof ServiceError && saysAuthenticationFailed(answer.body))) throw error;
    throw refusal(answer.status, context.service);
  }
}

function checked(
  schema: z.ZodType,
  value: unknown,
  answer: Answer,
  context: ReadContext,
  root: string,
): unknown {
  const fault = schemaFault(schema, value, answer.body.length, root);
  if (fault !== null) throw violation(answer, context, fault);
  return value;
}
