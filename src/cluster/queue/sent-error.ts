import type { ErrorCode } from "../../core/error-codes.js";
import { EarlyEndError, FatalError, type ReputeError, UsageError } from "../../core/errors.js";

/** An error of a worker, as it travels to the coordinator. */
export interface SentError {
  readonly kind: "usage" | "early" | "fatal";
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint: string | null;
}

export function sendError(error: ReputeError): SentError {
  const { code, message, hint } = error;
  const isUsage = error instanceof UsageError;
  const kind = isUsage ? "usage" : error instanceof EarlyEndError ? "early" : "fatal";
  return { kind, code, message, hint };
}

export function receiveError({ kind, code, message, hint }: SentError): ReputeError {
  const options = hint === null ? {} : { hint };
  if (kind === "usage") return new UsageError(code, message, options);
  return kind === "early"
    ? new EarlyEndError(code, message, options)
    : new FatalError(code, message, options);
}
