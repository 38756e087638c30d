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
import {
  type Fault,
  refusal,
  RejectedError,
  serviceError,
  ServiceError,
  statusFault,
} from "./status-fault.js";
import type { Answer } from "./types.js";
import { saysAuthenticationFailed } from "./options.js";

export interface ReadContext {
  readonly service: ServiceDescription;
  readonly clock: Clock;
}

/** What an answer of the intelligence interface contains. */
export type AnswerContent =
  | {
      readonly is: "data";
      /** 503: part of the data was unavailable. */
      readonly status: 200 | 503;
      readonly result: unknown;
      /** The whole envelope; `resultText` extracts the result. */
      readonly text: string;
      /** What to retry if the result turns out to be invalid. */
      readonly again: Again;
    }
  | { readonly is: "refused"; readonly message: string }
  | ({ readonly is: "fault" } & Fault);

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
 * @throws FatalError for 401 and 403: the run cannot continue
 */
export function readAnswer(answer: Answer, { service, clock }: ReadContext): AnswerContent {
  const { status } = answer;
  const envelope = envelopes.get(status);
  if (envelope === undefined) {
    return status > 200 && status < 300
      ? violation(service, `HTTP ${status} is not a status of the interface`, once)
      : { is: "fault", ...statusFault(answer, service, clock) };
  }
  const reading = readJson(answer.body);
  const body = asObject(reading.value);
  if (body === null || reading.fault !== null || body["status"] !== envelope.status) {
    if (status !== 200) return { is: "fault", ...statusFault(answer, service, clock) };
    const fault =
      reading.fault !== null
        ? `the body ${reading.fault}${contentType(answer)}`
        : body === null
          ? "the body is not a JSON object"
          : `status must be ${JSON.stringify(envelope.status)}`;
    return violation(service, fault, envelope.again);
  }
  const fault =
    schemaFault(envelope.schema, body, answer.body.length, "envelope") ??
    (body["statusCode"] === status
      ? null
      : `statusCode is ${String(body["statusCode"])} but the HTTP status is ${status}`);
  if (fault !== null) return violation(service, fault, envelope.again);
  if (status === 400) {
    const message = String(asObject(body["errors"])?.["$"]).slice(0, longestMessage);
    return { is: "refused", message };
  }
  const again = envelope.again ?? once;
  const isFull = status === 200;
  const { text } = reading;
  return { is: "data", status: isFull ? 200 : 503, result: body["result"], text, again };
}

function violation(service: ServiceDescription, fault: string, again: Again | null): AnswerContent {
  return { is: "fault", ...interfaceFault(service, fault, again) };
}

/** The fault of an answer that doesn't follow the interface. */
export function interfaceFault(
  service: ServiceDescription,
  fault: string,
  again: Again | null = once,
): Fault {
  const message = `the answer of ${service.name} does not follow the interface: ${fault}`;
  return { code: "response_schema", message, again };
}

function contentType({ headers }: Answer): string {
  const type = headers["content-type"];
  return typeof type === "string" && /^[\w.+/-]{1,60}/.test(type)
    ? ` (content-type ${type.split(";", 1)[0]?.trim() ?? ""})`
    : "";
}

export interface CallContext extends ReadContext {
  /** Such as "tag spam:bulk". */
  readonly subject: string;
  /** What to do if the service refuses it. */
  readonly hint?: string;
}

/**
 * The enveloped result of a call to the intelligence interface other than a lookup. Returned as
 * received, including unknown members and member order.
 *
 * @throws ServiceError for any other answer; FatalError for 401 and 403
 */
export function readResult(schema: z.ZodType, answer: Answer, context: CallContext): unknown {
  const { status } = answer;
  const reading = status === 200 || status === 400 ? readAnswer(answer, context) : null;
  if (reading?.is === "data") return checked(schema, reading.result, answer, context, "result");
  if (reading?.is === "refused") {
    const message = `${context.subject}: ${context.service.name} refuses: ${reading.message}`;
    const hint = context.hint === undefined ? {} : { hint: context.hint };
    throw new RejectedError("rejected", message, { httpStatus: 400, ...hint });
  }
  if (reading === null || status === 400) throw statusError(answer, context);
  throw faultError(reading, answer, context);
}

/**
 * The body of an answer without an envelope (operations, case context).
 *
 * @throws ServiceError for any other answer; FatalError for 401, 403, and a body that says
 *   `Authentication Failed` with any status
 */
export function readBare(schema: z.ZodType, answer: Answer, context: CallContext): unknown {
  try {
    if (answer.status !== 200) throw statusError(answer, context);
    const { value, fault } = readJson(answer.body);
    if (fault !== null) throw schemaError(`the body ${fault}`, answer, context);
    if (asObject(value) === null)
      throw schemaError("the body is not a JSON object", answer, context);
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
  context: CallContext,
  root: string,
): unknown {
  const fault = schemaFault(schema, value, answer.body.length, root);
  if (fault !== null) throw schemaError(fault, answer, context);
  return value;
}

function statusError(answer: Answer, context: CallContext): ServiceError {
  return faultError(statusFault(answer, context.service, context.clock), answer, context);
}

function schemaError(fault: string, answer: Answer, context: CallContext): ServiceError {
  return faultError(interfaceFault(context.service, fault), answer, context);
}

function faultError({ code, message, again }: Fault, answer: Answer, context: CallContext) {
  const options = { httpStatus: answer.status, again };
  return serviceError(code, `${context.subject}: ${message}`, options);
}
