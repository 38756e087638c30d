import type { Clock } from "../core/clock.js";
import type { Again, Attempt } from "../core/attempt.js";
import {
  type Finding,
  type JsonObject,
  largeAnswer,
  type LookupEndpoint,
} from "../core/finding.js";
import { isoTime } from "../core/iso-time.js";
import type { Item } from "../core/item/item.js";
import { driftFor, mismatch } from "./answer-match.js";
import { readEnvelope } from "./envelope-reading.js";
import { asObject } from "../core/read-json.js";
import { resultText } from "../core/json-members.js";
import { missingMembers, resultFault } from "./result-check.js";
import type { ServiceDescription } from "./service-description.js";
import { statusFault } from "./status-fault.js";
import type { TransportError } from "./http/transport-error.js";
import type { Answer } from "./types.js";

/** What judging needs to know beside the answer. */
export interface Bench {
  readonly service: ServiceDescription;
  readonly clock: Clock;
  /** Whether findings keep the text of their results. @default false */
  readonly asReceived?: boolean | undefined;
}

/** What was asked for. */
export interface Asked {
  readonly endpoint: LookupEndpoint;
  /** Null while unknown; the caller then compares it with the finding (`mismatch`). */
  readonly item: Item | null;
}

/**
 * Says what one answer to a lookup means. The body is read whatever the status, so that the data of a
 * 503 counts.
 *
 * @throws FatalError for 401 and 403: the run cannot go on
 */
export function judge(asked: Asked, answer: Answer, bench: Bench): Attempt {
  const { status } = answer;
  if (status === 200) return judgeSuccess(asked, answer, bench);
  if (status === 400) return judgeFailure(answer, bench);
  if (status === 503) return judgePartial(asked, answer, bench);
  if (status > 200 && status < 300) {
    return schemaFailure(answer, bench, `HTTP ${status} is no status of the interface`, once);
  }
  return statusFailure(answer, bench);
}

/** The attempt that brought no answer at all. */
export function judgeFault(error: TransportError, clock: Clock): Attempt {
  const { code, message, httpStatus, passing } = error;
  const attempt = failed(httpStatus, clock, code, message, passing ? transient : null);
  return { ...attempt, outcome: code };
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };
const partial: Again = { policy: "partial", afterMs: null };

function judgeSuccess(asked: Asked, answer: Answer, bench: Bench): Attempt {
  const reading = readEnvelope(answer);
  if (reading.is !== "success") {
    const fault = "fault" in reading ? reading.fault : "the envelope is of another kind";
    return schemaFailure(answer, bench, fault, once);
  }
  const result = asObject(reading.result);
  if (result === null) return schemaFailure(answer, bench, "result must be an object", once);
  const fault = resultFault(asked.endpoint, 200, result, answer.body.length);
  if (fault !== null) return schemaFailure(answer, bench, fault, once);
  return answered(asked, answer, bench, result, reading.text);
}

function judgeFailure(answer: Answer, bench: Bench): Attempt {
  const reading = readEnvelope(answer);
  if (reading.is === "failure") {
    return failed(400, bench.clock, "invalid_item", reading.message, null, "invalid");
  }
  // An envelope that contradicts itself says nothing of the item; 400 is never asked again.
  if (reading.is === "broken") return schemaFailure(answer, bench, reading.fault, null);
  return statusFailure(answer, bench);
}

function judgePartial(asked: Asked, answer: Answer, bench: Bench): Attempt {
  const reading = readEnvelope(answer);
  // The envelope is never a sign of throttling: what is wrong in it may pass like any 5xx.
  if (reading.is === "broken") return schemaFailure(answer, bench, reading.fault, transient);
  if (reading.is !== "partial_success") return statusFailure(answer, bench);
  const result = asObject(reading.result);
  if (result === null) return schemaFailure(answer, bench, "result must be an object", transient);
  const fault = resultFault(asked.endpoint, 503, result, answer.body.length);
  if (fault !== null) return schemaFailure(answer, bench, fault, transient);
  return answered(asked, answer, bench, result, reading.text);
}

/** A result that follows the interface, if it can be about the item. */
function answered(
  { endpoint, item }: Asked,
  { status, body }: Answer,
  bench: Bench,
  result: JsonObject,
  text: string,
): Attempt {
  const fault = item === null ? null : mismatch(item, result);
  if (fault !== null) {
    const message = `the answer of ${bench.service.name} is not about this item: ${fault}`;
    return failed(status, bench.clock, "response_mismatch", message, once);
  }
  const isFull = status === 200;
  const finding: Finding = {
    status: isFull ? "complete" : "partial",
    answers: {
      [endpoint]: {
        result,
        text: bench.asReceived === true ? resultText(text) : undefined,
        bytes: body.length > largeAnswer ? body.length : undefined,
      },
    },
    missing: isFull ? [] : missingMembers(endpoint, result),
    source: "live",
    httpStatus: status,
    attempts: 1,
    lookedUpAt: isoTime(bench.clock.now()),
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

function statusFailure(answer: Answer, bench: Bench): Attempt {
  const { code, message, again } = statusFault(answer, bench.service, bench.clock);
  return failed(answer.status, bench.clock, code, message, again);
}

function schemaFailure(answer: Answer, bench: Bench, fault: string, again: Again | null): Attempt {
  const message = `the answer of ${bench.service.name} does not follow the interface: ${fault}`;
  return failed(answer.status, bench.clock, "response_schema", message, again);
}

function failed(
  httpStatus: number | null,
  clock: Clock,
  code: string,
  message: string,
  again: Again | null,
  status: "failed" | "invalid" = "failed",
): Attempt {
  const finding: Finding = {
    status,
    answers: {},
    missing: [],
    source: "live",
    httpStatus,
    attempts: 1,
    lookedUpAt: isoTime(clock.now()),
    error: { code, message },
  };
  return { finding, outcome: String(httpStatus), again, drift: [] };
}
