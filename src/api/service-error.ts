import { ReputeError, type ReputeErrorOptions } from "../core/errors.js";
import type { Again } from "../core/attempt.js";

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

  constructor(code: string, message: string, options: ServiceErrorOptions = {}) {
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
