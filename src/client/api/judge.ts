import {
  type FindingSource,
  type Finding,
  type JsonObject,
  largeAnswer,
  type LookupAnswer,
  type LookupEndpoint,
  type Again,
  type Attempt,
} from "../../core/finding.js";
import { z } from "zod";
import { type Clock, timestamp } from "../../core/clock.js";
import { mailBlocklist } from "../../core/endpoints/endpoint.js";
import type { Item } from "../../core/item/item.js";
import { driftFor, mismatch } from "./answer-match.js";
import { endpoints } from "../../core/endpoints/endpoints.js";
import { madeUpIn } from "./service-description.js";
import { asObject, resultText } from "../../core/json-members.js";
import { readAnswer, type ReadContext, violation } from "./read-answer.js";
import { schemaFault } from "./schema-fault.js";
import { ServiceError, serviceError } from "./status-fault.js";
import { TransportError } from "./http/transport-error.js";
import type { Answer } from "./types.js";

export interface JudgeContext extends ReadContext {
  /** Whether findings include each result's text as received. @default false */
  readonly asReceived?: boolean | undefined;
}

interface LookupRequest {
  readonly endpoint: LookupEndpoint;
  readonly item: Item;
}

/**
 * Decides what an answer to a lookup means: its finding, and whether to ask again.
 *
 * @throws FatalError for 401 and 403: the run cannot continue
 */
export function judge(request: LookupRequest, answer: Answer, context: JudgeContext): Attempt {
  try {
    return answered(request, answer, context);
  } catch (error) {
    return failedAttempt(error, context.clock, madeUpIn(answer.headers));
  }
}

/**
 * Turns the error of an attempt into its finding.
 *
 * @throws the error itself unless it is a ServiceError
 */
export function failedAttempt(
  error: unknown,
  clock: Clock,
  source: FindingSource = "live",
): Attempt {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message, httpStatus, again } = error;
  const isInvalid = code === "rejected";
  const finding: Finding = {
    status: isInvalid ? "invalid" : "failed",
    answers: {},
    missing: [],
    source,
    httpStatus,
    attempts: 1,
    lookedUpAt: timestamp(clock.now()),
    error: { code: isInvalid ? "invalid_item" : code, message },
  };
  const outcome = error instanceof TransportError ? code : String(httpStatus);
  return { finding, outcome, again, drift: [] };
}

const once: Again = { policy: "once", afterMs: null };
const partial: Again = { policy: "partial", afterMs: null };

/** @throws ServiceError if the result is invalid, or about another item */
function answered(
  { endpoint, item }: LookupRequest,
  answer: Answer,
  context: JudgeContext,
): Attempt {
  const { status, headers, body } = answer;
  const { result: value, text, again } = readAnswer(answer, context);
  const result = asObject(value);
  if (result === null) throw violation(answer, context, "result must be an object", again);
  const isFull = status === 200;
  const fault = resultFault(endpoint, isFull ? 200 : 503, result, body.length);
  if (fault !== null) throw violation(answer, context, fault, again);
  const other = mismatch(item, result);
  if (other !== null) {
    const message = `the answer of ${context.service.name} is not about this item: ${other}`;
    throw serviceError("response_mismatch", message, { httpStatus: status, again: once });
  }
  const answers: Partial<Record<LookupEndpoint, LookupAnswer>> = {};
  const madeUp = madeUpIn(headers);
  answers[endpoint] = {
    result,
    text: context.asReceived === true ? resultText(text) : undefined,
    bytes: body.length > largeAnswer ? body.length : undefined,
    madeUp,
  };
  const finding: Finding = {
    status: isFull ? "complete" : "partial",
    answers,
    missing: isFull ? [] : missingMembers(endpoint, result),
    source: madeUp ?? "live",
    httpStatus: status,
    attempts: 1,
    lookedUpAt: timestamp(context.clock.now()),
    error: null,
  };
  return {
    finding,
    outcome: String(status),
    again: isFull ? null : partial,
    drift: driftFor(item, result),
    body: isFull ? text : undefined,
  };
}

/**
 * Describes how a lookup's result violates the interface; null if it doesn't.
 *
 * Deployed services call the mail blocklist member `abusixMailBlocklist`; the same
 * rules apply to it.
 *
 * @param status 200 for a full result, 503 for a partial one
 * @param bytes size of the text that the result was parsed from
 */
function resultFault(
  endpoint: LookupEndpoint,
  status: 200 | 503,
  result: JsonObject,
  bytes: number,
): string | null {
  const schema = endpoints[endpoint].schemaFor(status, result["type"]);
  const { serviceMailBlocklist: own, abusixMailBlocklist: deployed } = result;
  const isRenamed = own === undefined && deployed !== undefined;
  const specified = isRenamed ? { ...result, serviceMailBlocklist: deployed } : result;
  return schemaFault(schema, specified, bytes, "result");
}

/**
 * The top-level members that are null or absent in a partial result, in the interface's order. Always
 * reports the mail blocklist member under its specified name.
 */
function missingMembers(endpoint: LookupEndpoint, result: JsonObject): string[] {
  const schema = endpoints[endpoint].schemaFor(503, result["type"]);
  let names = nullable.get(schema);
  if (names === undefined) nullable.set(schema, (names = nullableMembers(schema)));
  return names.filter((member) =>
    member === "serviceMailBlocklist"
      ? mailBlocklist(result) === null
      : (result[member] ?? null) === null,
  );
}

/** Members that may be null, by schema. */
const nullable = new WeakMap<z.ZodType, readonly string[]>();

function nullableMembers(schema: z.ZodType): readonly string[] {
  if (!(schema instanceof z.ZodObject)) return [];
  const shape = schema.shape as Readonly<Record<string, z.ZodType>>;
  return Object.keys(shape).filter((name) => shape[name]!.safeParse(null).success);
}
