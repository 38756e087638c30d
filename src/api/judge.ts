import type { Clock } from "../core/clock.js";
import type { Again, Attempt } from "../core/attempt.js";
import {
  type Finding,
  type JsonObject,
  largeAnswer,
  type LookupEndpoint,
} from "../core/finding.js";
import type { Item } from "../core/item/item.js";
import { driftFor, mismatch } from "./answer-match.js";
import { asObject, resultText } from "../core/json-members.js";
import { notOfInterface, readAnswer, type Reader } from "./read-answer.js";
import { missingMembers, resultFault } from "./schema-fault.js";
import type { Fault } from "./status-fault.js";
import type { TransportError } from "./http/transport-error.js";
import type { Answer } from "./types.js";

/** What judging needs to know beside the answer. */
export interface Bench extends Reader {
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
 * Says what one answer to a lookup means.
 *
 * @throws FatalError for 401 and 403: the run cannot continue
 */
export function judge(asked: Asked, answer: Answer, bench: Bench): Attempt {
  const { status, body } = answer;
  const { service, clock } = bench;
  const reading = readAnswer(answer, bench);
  if (reading.is === "refused") {
    return failed(400, clock, { code: "invalid_item", ...reading, again: null }, "invalid");
  }
  if (reading.is === "fault") return failed(status, clock, reading);
  const result = asObject(reading.result);
  const fault =
    result === null
      ? "result must be an object"
      : resultFault(asked.endpoint, reading.status, result, body.length);
  if (result === null || fault !== null) {
    return failed(status, clock, notOfInterface(service, fault ?? "", reading.again));
  }
  return answered(asked, answer, bench, result, reading.text);
}

/** The attempt that brought no answer at all. */
export function judgeFault(error: TransportError, clock: Clock): Attempt {
  const { code, message, httpStatus, passing } = error;
  const attempt = failed(httpStatus, clock, { code, message, again: passing ? transient : null });
  return { ...attempt, outcome: code };
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };
const partial: Again = { policy: "partial", afterMs: null };

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
    return failed(status, bench.clock, { code: "response_mismatch", message, again: once });
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
    lookedUpAt: new Date(bench.clock.now()).toISOString(),
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
    lookedUpAt: new Date(clock.now()).toISOString(),
    error: { code, message },
  };
  return { finding, outcome: String(httpStatus), again, drift: [] };
}
