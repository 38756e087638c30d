import { type Clock, timestamp } from "../core/clock.js";
import type { Again, Attempt } from "../core/attempt.js";
import {
  type Finding,
  type JsonObject,
  largeAnswer,
  type LookupAnswer,
  type LookupEndpoint,
} from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { driftFor, mismatch } from "./answer-match.js";
import { syntheticHeader } from "./endpoints.js";
import { asObject, resultText } from "../core/json-members.js";
import { interfaceFault, readAnswer, type ReadContext } from "./read-answer.js";
import { missingMembers, resultFault } from "./schema-fault.js";
import type { Fault } from "./status-fault.js";
import type { TransportError } from "./http/transport-error.js";
import type { Answer } from "./types.js";

export interface JudgeContext extends ReadContext {
  /** Whether findings include the text of their results. @default false */
  readonly asReceived?: boolean | undefined;
}

export interface LookupRequest {
  readonly endpoint: LookupEndpoint;
  /** Null if not known yet; the caller then checks the finding with `mismatch`. */
  readonly item: Item | null;
}

/**
 * Turns one answer to a lookup into an attempt.
 *
 * @throws FatalError for 401 and 403: the run cannot continue
 */
export function judge(request: LookupRequest, answer: Answer, context: JudgeContext): Attempt {
  const { status, body } = answer;
  const { service, clock } = context;
  const reading = readAnswer(answer, context);
  if (reading.is === "refused") {
    return failed(400, clock, { code: "invalid_item", ...reading, again: null }, "invalid");
  }
  if (reading.is === "fault") return failed(status, clock, reading);
  const result = asObject(reading.result);
  const fault =
    result === null
      ? "result must be an object"
      : resultFault(request.endpoint, reading.status, result, body.length);
  if (result === null || fault !== null) {
    return failed(status, clock, interfaceFault(service, fault ?? "", reading.again));
  }
  return answered(request, answer, context, result, reading.text);
}

export function judgeFault(error: TransportError, clock: Clock): Attempt {
  const { code, message, httpStatus, passing } = error;
  const attempt = failed(httpStatus, clock, { code, message, again: passing ? transient : null });
  return { ...attempt, outcome: code };
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };
const partial: Again = { policy: "partial", afterMs: null };

/** Accepts a valid result if it can be about the item. */
function answered(
  { endpoint, item }: LookupRequest,
  { status, headers, body }: Answer,
  context: JudgeContext,
  result: JsonObject,
  text: string,
): Attempt {
  const fault = item === null ? null : mismatch(item, result);
  if (fault !== null) {
    const message = `the answer of ${context.service.name} is not about this item: ${fault}`;
    return failed(status, context.clock, { code: "response_mismatch", message, again: once });
  }
  const isFull = status === 200;
  const answers: Partial<Record<LookupEndpoint, LookupAnswer>> = {};
  answers[endpoint] = {
    result,
    text: context.asReceived === true ? resultText(text) : undefined,
    bytes: body.length > largeAnswer ? body.length : undefined,
    synthetic: headers[syntheticHeader] === undefined ? undefined : true,
  };
  const finding: Finding = {
    status: isFull ? "complete" : "partial",
    answers,
    missing: isFull ? [] : missingMembers(endpoint, result),
    source: "live",
    httpStatus: status,
    attempts: 1,
    lookedUpAt: timestamp(context.clock.now()),
    error: null,
  };
  return {
    finding,
    outcome: String(status),
    again: isFull ? null : partial,
    drift: item === null ? [] : driftFor(item, result),
    body: isFull ? body : undefined,
  };
}

function failed(
  httpStatus: number | null,
  clock: Clock,
  { code, message, again }: Fault,
  status: "failed" | "invalid" = "failed",
): Attempt {
  const finding: Finding = {
    status,
    answers: {},
    missing: [],
    source: "live",
    httpStatus,
    attempts: 1,
    lookedUpAt: timestamp(clock.now()),
    error: { code, message },
  };
  return { finding, outcome: String(httpStatus), again, drift: [] };
}
