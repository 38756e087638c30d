import type { z } from "zod";
import { asObject, readJson } from "../core/read-json.js";
import { saysAuthenticationFailed } from "./authentication.js";
import { notOfInterface, readAnswer, type Reader } from "./read-answer.js";
import { schemaFault } from "./schema-fault.js";
import { RejectedError, serviceError, ServiceError } from "./service-error.js";
import { type Fault, refusal, statusFault } from "./status-fault.js";
import type { Answer } from "./types.js";

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
    if (asObject(value) === null) throw schemaError("the body is no JSON object", answer, inquiry);
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
