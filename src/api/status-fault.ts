import { STATUS_CODES } from "node:http";
import type { Clock } from "../core/clock.js";
import type { ErrorCode } from "../core/error-codes.js";
import { FatalError, ReputeError, type ReputeErrorOptions } from "../core/errors.js";
import type { Again } from "../core/attempt.js";
import { asObject, readJson } from "../core/json-members.js";
import { longestWaitMs, retryAfterMs } from "./http/rate-limit-headers.js";
import type { ServiceDescription } from "./service-description.js";
import type { Answer } from "./types.js";

/** Why an answer is no data, and whether another attempt can change that. */
export interface Fault {
  readonly code: ErrorCode;
  readonly message: string;
  readonly again: Again | null;
}

/**
 * What a status says on its own, when the body held no data (behaviour: Answers).
 *
 * @throws FatalError for 401 and 403: no further request can fare better
 */
export function statusFault(answer: Answer, service: ServiceDescription, clock: Clock): Fault {
  const { status } = answer;
  if (status === 401 || status === 403) throw refusal(status, service);
  const code = `http_${status}` as const;
  const message = `${service.name} answered ${status}${reason(answer)}`;
  if (status >= 300 && status < 400) {
    return { code, message: `${message}; redirects are not followed`, again: null };
  }
  const again = againAfter(answer, clock);
  const isLong = again?.afterMs === longestWaitMs;
  const wait = isLong
    ? "; it asks to wait an hour or longer, and is asked again after an hour"
    : "";
  return { code, message: message + wait, again };
}

/** What another attempt could change about a status without data: the retry table of every request. */
export function againAfter(
  { status, headers }: Pick<Answer, "status" | "headers">,
  clock: Clock,
): Again | null {
  if (status === 429 || status === 503) {
    return { policy: "throttled", afterMs: retryAfterMs(headers, clock) };
  }
  if (status === 408 || status === 425 || (status >= 500 && status < 600)) {
    return { policy: "transient", afterMs: retryAfterMs(headers, clock) };
  }
  return null;
}

/**
 * Explains refused credentials. A status other than 401 and 403 is one whose body says
 * `Authentication Failed`.
 */
export function refusal(status: number, service: ServiceDescription): FatalError {
  const { name, variable, flag, configured, advice } = service.credential;
  const code = refusalCodes.get(status) ?? "authentication_failed";
  const said = refusalCodes.has(status) ? "" : ' ("Authentication Failed")';
  const source = `${status}${said} from ${service.name}`;
  const steps = advice === undefined ? "" : `${advice} `;
  return configured
    ? new FatalError(code, `${source}: the ${name} in ${variable} was not accepted`, {
        hint: `${steps}Check that ${variable} (or the file given with ${flag}) holds a valid ${name} for this address.`,
      })
    : new FatalError(code, `${source}: it wants an ${name} and none is configured`, {
        hint: `${steps}Set ${variable}, or name a file that holds the ${name} with ${flag}.`,
      });
}

const refusalCodes: ReadonlyMap<number, ErrorCode> = new Map([
  [401, "unauthorized"],
  [403, "forbidden"],
]);

/** The name of the status, and what the body says for a person. */
function reason({ status, body }: Answer): string {
  const name = STATUS_CODES[status];
  const words = wordsOf(body);
  return `${name === undefined ? "" : ` ${name}`}${words === null ? "" : `: ${words}`}`;
}

const longestBody = 16 * 1024;
const longestWords = 300;

function wordsOf(body: Buffer): string | null {
  if (body[0] !== 0x7b || body.length > longestBody) return null;
  const { value } = readJson(body);
  const object = asObject(value);
  const words = asObject(object?.["errors"])?.["$"] ?? object?.["message"] ?? object?.["error"];
  return typeof words === "string" && words !== "" ? words.slice(0, longestWords) : null;
}

export interface ServiceErrorOptions extends ReputeErrorOptions {
  readonly httpStatus?: number | null;
  readonly again?: Again | null;
}

/**
 * A call that is no lookup (tags, customers, cases) failed. Base of one class for each
 * way to deal with it; thrown itself where asking again is of no use (`http_302`,
 * `body_too_large`). Refused credentials are no `ServiceError` but a `FatalError`.
 */
export class ServiceError extends ReputeError {
  /** HTTP status of the answer, or null when none came. */
  readonly httpStatus: number | null;
  /** What another attempt could change; null when nothing. */
  readonly again: Again | null;

  constructor(code: ErrorCode, message: string, options: ServiceErrorOptions = {}) {
    super(code, message, options);
    this.httpStatus = options.httpStatus ?? null;
    this.again = options.again ?? null;
  }
}

/** A fault that may pass: reset, timeout, 408, 425, 5xx, an answer that is none of the service's. */
export class TransientServiceError extends ServiceError {}

/** 429, or 503: the service wants fewer requests; `again.afterMs` says from when on, if it told. */
export class ThrottledError extends ServiceError {}

/** 400: the service refuses what was asked; the message has the service's own words. */
export class RejectedError extends ServiceError {}

/** 404: there is no such thing at this address. */
export class NotFoundError extends ServiceError {}

/** A tag's list changed between two pages although its snapshot was pinned; start it again. */
export class SnapshotChangedError extends ServiceError {}

/** The class that goes with what another attempt could change. */
export function serviceError(
  code: ErrorCode,
  message: string,
  options: ServiceErrorOptions,
): ServiceError {
  if (options.again?.policy === "throttled") return new ThrottledError(code, message, options);
  if (options.again) return new TransientServiceError(code, message, options);
  if (options.httpStatus === 400) return new RejectedError(code, message, options);
  if (options.httpStatus === 404) return new NotFoundError(code, message, options);
  return new ServiceError(code, message, options);
}
