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

/** What reading an answer needs to know beside it. */
export interface Reader {
  readonly service: ServiceDescription;
  readonly clock: Clock;
}

/** What an answer of the intelligence interface brings. */
export type Reading =
  | {
      readonly is: "data";
      /** 503: a part of the data was unavailable. */
      readonly status: 200 | 503;
      readonly result: unknown;
      /** The whole envelope; `resultText` takes the result out of it. */
      readonly text: string;
      /** What another attempt could change where the result is not as it should be. */
      readonly again: Again;
    }
  | { readonly is: "refused"; readonly message: string }
  | ({ readonly is: "fault" } & Fault);

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };

/**
 * The envelope that belongs to each HTTP status, and what another attempt could change where it breaks
 * a rule: one that contradicts itself says nothing of the item, and 400 is never asked again; that of a
 * 503 is never a sign of throttling, so what is wrong in it may pass like any 5xx.
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

/** Longest text of `errors.$` that is kept, in UTF-16 units. */
const longestMessage = 2000;

/**
 * Reads an answer as what its status and its envelope say (interface: Envelope). The body is read
 * before the status counts, so that the data of a 503 is data.
 *
 * @throws FatalError for 401 and 403: the run cannot continue
 */
export function readAnswer(answer: Answer, { service, clock }: Reader): Reading {
  const { status } = answer;
  const envelope = envelopes.get(status);
  if (envelope === undefined) {
    return status > 200 && status < 300
      ? unlike(service, `HTTP ${status} is no status of the interface`, once)
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
    return unlike(service, fault, envelope.again);
  }
  const fault =
    schemaFault(envelope.schema, body, answer.body.length, "envelope") ??
    (body["statusCode"] === status
      ? null
      : `statusCode is ${String(body["statusCode"])} although the HTTP status is ${status}`);
  if (fault !== null) return unlike(service, fault, envelope.again);
  if (status === 400) {
    const message = String(asObject(body["errors"])?.["$"]).slice(0, longestMessage);
    return { is: "refused", message };
  }
  const again = envelope.again ?? once;
  const isFull = status === 200;
  const { text } = reading;
  return { is: "data", status: isFull ? 200 : 503, result: body["result"], text, again };
}

function unlike(service: ServiceDescription, fault: string, again: Again | null): Reading {
  return { is: "fault", ...notOfInterface(service, fault, again) };
}

/** The fault of an answer that is none of the interface's. */
export function notOfInterface(
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

/** What is asked for, and by whom; errors name it. */
export interface Inquiry extends Reader {
  /** As in "tag spam:bulk". */
  readonly subject: string;
}

/**
 * The result in the envelope of an answer of the intelligence interface that is no lookup. It is the
 * value itself: unknown members, and their order, stay as received.
 *
 * @throws ServiceError when the answer is anything else; FatalError for 401 and 403
 */
export function readResult(schema: z.ZodType, answer: Answer, inquiry: Inquiry): unknown {
  const { status } = answer;
  const reading = status === 200 || status === 400 ? readAnswer(answer, inquiry) : null;
  if (reading?.is === "data") return checked(schema, reading.result, answer, inquiry, "result");
  if (reading?.is === "refused") {
    const message = `${inquiry.subject}: ${inquiry.service.name} refuses: ${reading.message}`;
    throw new RejectedError("rejected", message, { httpStatus: 400 });
  }
  if (reading === null || status === 400) throw statusError(answer, inquiry);
  throw faultError(reading, answer, inquiry);
}

/**
 * The body of an answer that comes without an envelope (operations, case context).
 *
 * @throws ServiceError when the answer is anything else; FatalError for 401 and 403, and for a body
 *   that says `Authentication Failed` under any status
 */
export function readBare(schema: z.ZodType, answer: Answer, inquiry: Inquiry): unknown {
  try {
    if (answer.status !== 200) throw statusError(answer, inquiry);
    const { value, fault } = readJson(answer.body);
    if (fault !== null) throw schemaError(`the body ${fault}`, answer, inquiry);
    if (asObject(value) === null)
      throw schemaError("the body is not a JSON object", answer, inquiry);
    return checked(schema, value, answer, inquiry, "body");
  } catch (error) {
    if (!(error instanceof ServiceError && saysAuthenticationFailed(answer.body))) throw error;
    throw refusal(answer.status, inquiry.service);
  }
}

function checked(
  schema: z.ZodType,
  value: unknown,
  answer: Answer,
  inquiry: Inquiry,
  root: string,
): unknown {
  const fault = schemaFault(schema, value, answer.body.length, root);
  if (fault !== null) throw schemaError(fault, answer, inquiry);
  return value;
}

function statusError(answer: Answer, inquiry: Inquiry): ServiceError {
  return faultError(statusFault(answer, inquiry.service, inquiry.clock), answer, inquiry);
}

function schemaError(fault: string, answer: Answer, inquiry: Inquiry): ServiceError {
  return faultError(notOfInterface(inquiry.service, fault), answer, inquiry);
}

function faultError({ code, message, again }: Fault, answer: Answer, inquiry: Inquiry) {
  const options = { httpStatus: answer.status, again };
  return serviceError(code, `${inquiry.subject}: ${message}`, options);
}
