import type { Clock } from "../../core/clock.js";
import { FatalError, ReputeError, type ReputeErrorOptions } from "../../core/errors.js";
import type { Again } from "../../core/finding.js";
import { retryAfterMs } from "./rate-limit-headers.js";
import type { ServiceDescription } from "./service-description.js";
import type { Answer } from "./types.js";

/** The retry rule for a status without data, common to all requests. */
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
 * The error for rejected credentials: status 401 or 403, or any status with a body that says
 * `Authentication Failed`.
 */
export function refusal(status: number, service: ServiceDescription): FatalError {
  const { name, variable, flag, configured, advice } = service.credential;
  const code = refusalCodes.get(status) ?? "authentication_failed";
  const said = refusalCodes.has(status) ? "" : ' ("Authentication Failed")';
  const source = `${status}${said} from ${service.name}`;
  const steps = advice === null ? "" : `${advice} `;
  return configured
    ? new FatalError(code, `${source}: the ${name} was not accepted`, {
        hint: `${steps}Check that ${variable} (or the file given with ${flag}) holds a valid ${name} for this address.`,
      })
    : new FatalError(code, `${source}: it requires an ${name}, and none is configured`, {
        hint: `${steps}Set ${variable} (or name the file that holds it with ${flag}).`,
      });
}

const refusalCodes: ReadonlyMap<number, string> = new Map([
  [401, "unauthorized"],
  [403, "forbidden"],
]);

export interface ServiceErrorOptions extends ReputeErrorOptions {
  readonly httpStatus?: number | null;
  readonly again?: Again | null;
}

/**
 * A failed request. Subclasses say how to handle it; the base class itself is for failures that no retry
 * can fix (`http_302`, `body_too_large`). Rejected credentials are a `FatalError` instead.
 */
export class ServiceError extends ReputeError {
  /** HTTP status of the answer; null without one. */
  readonly httpStatus: number | null;
  /** How to retry; null if no retry can succeed. */
  readonly again: Again | null;

  constructor(code: string, message: string, options: ServiceErrorOptions = {}) {
    super(code, message, options);
    this.httpStatus = options.httpStatus ?? null;
    this.again = options.again ?? null;
  }
}

/** Worth retrying: reset, timeout, 408, 425, 5xx, or an answer that doesn't follow the interface. */
export class TransientServiceError extends ServiceError {}

/** 429, or 503: the service wants fewer requests; `again.afterMs` says when to retry, if known. */
export class ThrottledError extends ServiceError {}

/** 400: the service rejects the request and says why in the message. */
export class RejectedError extends ServiceError {}

/** 404: nothing exists at this address. */
export class NotFoundError extends ServiceError {}

/** A tag's list changed between two pages despite its pinned snapshot; read it again. */
export class SnapshotChangedError extends ServiceError {}

/** Picks the subclass by retry policy, then by status. */
export function serviceError(
  code: string,
  message: string,
  options: ServiceErrorOptions,
): ServiceError {
  if (options.again?.policy === "throttled") return new ThrottledError(code, message, options);
  if (options.again) return new TransientServiceError(code, message, options);
  if (options.httpStatus === 400) return new RejectedError(code, message, options);
  if (options.httpStatus === 404) return new NotFoundError(code, message, options);
  return new ServiceError(code, message, options);
}
