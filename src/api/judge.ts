import type { Clock } from "../core/clock.js";
import {
  type Again,
  type Finding,
  type JsonObject,
  largeAnswer,
  type LookupEndpoint,
} from "../core/finding.js";
import { isoTime } from "../core/iso-time.js";
import type { Item } from "../core/item/item.js";
import { mismatch } from "./answer-match.js";
import { readEnvelope } from "./envelope-reading.js";
import { asObject } from "../core/read-json.js";
import { resultText } from "../core/result-text.js";
import { resultFault } from "./result-check.js";
import { missingMembers } from "./schema/missing-members.js";
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
  /** Null where it is not known yet: whoever uses the finding then compares them (`mismatch`). */
  readonly item: Item | null;
}

/**
 * Says what one answer to a lookup means. The body is read whatever the status, so that the data of a
 * 503 counts; `again` tells what another attempt could change.
 *
 * @throws FatalError for 401 and 403: the run cannot go on
 */
export function judge(asked: Asked, answer: Answer, bench: Bench): Finding {
  const { status } = answer;
  if (status === 200) return judgeSuccess(asked, answer, bench);
  if (status === 400) return judgeFailure(answer, bench);
  if (status === 503) return judgePartial(asked, answer, bench);
  if (status > 200 && status < 300) {
    return schemaFinding(answer, bench, `HTTP ${status} is no status of the interface`, once);
  }
  return statusFinding(answer, bench);
}

/** What an attempt came to that brought no answer at all. */
export function judgeFault(error: TransportError, clock: Clock): Finding {
  const { code, message, httpStatus, passing } = error;
  return { ...failed(httpStatus, clock, code, message, passing ? transient : null), outcome: code };
}

const once: Again = { policy: "once", afterMs: null };
const transient: Again = { policy: "transient", afterMs: null };
const partial: Again = { policy: "partial", afterMs: null };

function judgeSuccess(asked: Asked, answer: Answer, bench: Bench): Finding {
  const reading = readEnvelope(answer);
  if (reading.is !== "success") {
    const fault = "fault" in reading ? reading.fault : "the envelope is of another kind";
    return schemaFinding(answer, bench, fault, once);
  }
  const result = asObject(reading.result);
  if (result === null) return schemaFinding(answer, bench, "result must be an object", once);
  const fault = resultFault(asked.endpoint, "full", result, answer.body.length);
  if (fault !== null) return schemaFinding(answer, bench, fault, once);
  return resultFinding(asked, answer, bench, result, reading.text);
}

function judgeFailure(answer: Answer, bench: Bench): Finding {
  const reading = readEnvelope(answer);
  if (reading.is === "failure") {
    return {
      ...failed(400, bench.clock, "invalid_item", reading.message, null),
      status: "invalid",
    };
  }
  // An envelope that contradicts itself says nothing of the item; 400 is never asked again.
  if (reading.is === "broken") return schemaFinding(answer, bench, reading.fault, null);
  return statusFinding(answer, bench);
}

function judgePartial(asked: Asked, answer: Answer, bench: Bench): Finding {
  const reading = readEnvelope(answer);
  // The envelope is never a sign of throttling: what is wrong in it may pass like any 5xx.
  if (reading.is === "broken") return schemaFinding(answer, bench, reading.fault, transient);
  if (reading.is !== "partial_success") return statusFinding(answer, bench);
  const result = asObject(reading.result);
  if (result === null) return schemaFinding(answer, bench, "result must be an object", transient);
  const fault = resultFault(asked.endpoint, "partial", result, answer.body.length);
  if (fault !== null) return schemaFinding(answer, bench, fault, transient);
  const finding = resultFinding(asked, answer, bench, result, reading.text);
  if (finding.status === "failed") return finding;
  const { body: _, tookMs: __, ...data } = finding;
  const missing = missingMembers(result, asked.endpoint);
  return { ...data, status: "partial", missing, again: partial };
}

/** A result that follows the interface, if it can be about the item. */
function resultFinding(
  { endpoint, item }: Asked,
  answer: Answer,
  bench: Bench,
  result: JsonObject,
  text: string,
): Finding {
  const { status, body } = answer;
  const fault = item === null ? null : mismatch(item, result);
  if (fault !== null) {
    const message = `the answer of ${bench.service.name} is not about this item: ${fault}`;
    return failed(status, bench.clock, "response_mismatch", message, once);
  }
  const isQuery = endpoint === "query";
  const received = bench.asReceived === true ? resultText(text) : undefined;
  return {
    status: "complete",
    query: isQuery ? result : null,
    quickCheck: isQuery ? null : result,
    missing: [],
    source: "live",
    httpStatus: status,
    attempts: 1,
    lookedUpAt: isoTime(bench.clock.now()),
    error: null,
    queryText: isQuery ? received : undefined,
    quickCheckText: isQuery ? undefined : received,
    bytes: body.length > largeAnswer ? body.length : undefined,
    body,
    tookMs: answer.tookMs,
  };
}

function statusFinding(answer: Answer, bench: Bench): Finding {
  const { code, message, again } = statusFault(answer, bench.service, bench.clock);
  return failed(answer.status, bench.clock, code, message, again);
}

function schemaFinding(answer: Answer, bench: Bench, fault: string, again: Again | null): Finding {
  const message = `the answer of ${bench.service.name} does not follow the interface: ${fault}`;
  return failed(answer.status, bench.clock, "response_schema", message, again);
}

function failed(
  httpStatus: number | null,
  clock: Clock,
  code: string,
  message: string,
  again: Again | null,
): Finding {
  const finding: Finding = {
    status: "failed",
    query: null,
    quickCheck: null,
    missing: [],
    source: "live",
    httpStatus,
    attempts: 1,
    lookedUpAt: isoTime(clock.now()),
    error: { code, message },
  };
  return again === null ? finding : { ...finding, again };
}
