import { z } from "zod";
import type { Again } from "../core/attempt.js";
import type { Clock } from "../core/clock.js";
import { asObject, readJson } from "../core/read-json.js";
import {
  failureEnvelopeSchema,
  partialSuccessEnvelope,
  successEnvelope,
} from "./schema/envelope.js";
import { schemaFault } from "./schema-fault.js";
import type { ServiceDescription } from "./service-description.js";
import { type Fault, statusFault } from "./status-fault.js";
import type { Answer } from "./types.js";

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
          ? "the body is no JSON object"
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
