import type { z } from "zod";
import { saysAuthenticationFailed } from "../authentication.js";
import { readEnvelope } from "../envelope-reading.js";
import type { Bench } from "../judge.js";
import { asObject, readJson } from "../../core/read-json.js";
import { schemaFault } from "../schema-fault.js";
import {
  RejectedError,
  serviceError,
  ServiceError,
  TransientServiceError,
} from "../service-error.js";
import { refusal, statusFault } from "../status-fault.js";
import type { Answer } from "../types.js";

/** What is asked for, and by whom; errors name it. */
export interface Inquiry extends Bench {
  /** As in "tag spam:bulk". */
  readonly subject: string;
}

/**
 * The result in the envelope of an answer of the intelligence interface that is no lookup.
 *
 * @throws ServiceError when the answer is anything else; FatalError for 401 and 403
 */
export function readResult<Schema extends z.ZodType>(
  schema: Schema,
  answer: Answer,
  inquiry: Inquiry,
): z.output<Schema> {
  if (answer.status !== 200 && answer.status !== 400) throw statusError(answer, inquiry);
  const reading = readEnvelope(answer);
  if (reading.is === "failure") {
    const message = `${inquiry.subject}: ${inquiry.service.name} refuses: ${reading.message}`;
    throw new RejectedError("rejected", message, { httpStatus: 400 });
  }
  if (reading.is === "success") return checked(schema, reading.result, answer, inquiry, "result");
  if (answer.status === 400) throw statusError(answer, inquiry);
  throw schemaError(answer, inquiry, "fault" in reading ? reading.fault : "it is of another kind");
}

/**
 * The value of an answer that comes without an envelope (operations, case context).
 *
 * @throws ServiceError when the answer is anything else; FatalError for 401 and 403, and for a body
 *   that says `Authentication Failed` under any status
 */
export function readBare<Schema extends z.ZodType>(
  schema: Schema,
  answer: Answer,
  inquiry: Inquiry,
): z.output<Schema> {
  try {
    return bareValue(schema, answer, inquiry);
  } catch (error) {
    if (!(error instanceof ServiceError && saysAuthenticationFailed(answer.body))) throw error;
    throw refusal(answer.status, inquiry.service);
  }
}

function bareValue<Schema extends z.ZodType>(
  schema: Schema,
  answer: Answer,
  inquiry: Inquiry,
): z.output<Schema> {
  if (answer.status !== 200) throw statusError(answer, inquiry);
  const reading = readJson(answer.body);
  if (reading.fault !== null) throw schemaError(answer, inquiry, `the body ${reading.fault}`);
  if (asObject(reading.value) === null) {
    throw schemaError(answer, inquiry, "the body is no JSON object");
  }
  return checked(schema, reading.value, answer, inquiry, "body");
}

/** Checks a value and hands on the value itself: unknown members, and their order, stay as received. */
function checked<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  answer: Answer,
  inquiry: Inquiry,
  root: string,
): z.output<Schema> {
  const fault = schemaFault(schema, value, answer.body.length, root);
  if (fault !== null) throw schemaError(answer, inquiry, fault);
  return value as z.output<Schema>;
}

function statusError(answer: Answer, { subject, service, clock }: Inquiry): ServiceError {
  const { code, message, again } = statusFault(answer, service, clock);
  return serviceError(code, `${subject}: ${message}`, { httpStatus: answer.status, again });
}

function schemaError(answer: Answer, { subject, service }: Inquiry, fault: string): ServiceError {
  return new TransientServiceError(
    "response_schema",
    `${subject}: the answer of ${service.name} does not follow the interface: ${fault}`,
    { httpStatus: answer.status, again: { policy: "once", afterMs: null } },
  );
}
