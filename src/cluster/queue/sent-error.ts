import { hostname } from "node:os";
import { EarlyEndError, FatalError, ReputeError, UsageError } from "../../core/errors.js";
import { endingOfError } from "../../run/exit-reason.js";

/** An error of a worker, as it travels to the coordinator. */
export interface SentError {
  readonly kind: "usage" | "early" | "fatal";
  readonly code: string;
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

/** Faults of one machine: of its disk, memory, settings. Another worker may do better. */
const ofMachine = /^(?:output_|journal_(?!damaged|format)|redis_|driver_|workers_option)/;

/** Whether an error ends the run, as one that every worker would meet: files that are gone, too. */
export function isOfRun(error: unknown): boolean {
  if (!(error instanceof ReputeError) || error instanceof EarlyEndError) return true;
  const reason = endingOfError(error, true).exit_reason;
  if (["refused", "wrong_service", "unreachable"].includes(reason)) return true;
  return !ofMachine.test(error.code);
}

const noInput = /^input_(?:not_found|unreadable)$/;

/** The error with the place where it happened. The coordinator could read the input. */
export function located(error: unknown): ReputeError {
  if (error instanceof EarlyEndError) return error;
  const known = error instanceof ReputeError ? error : null;
  const text = error instanceof Error ? error.message : String(error);
  const message = `worker ${process.pid} on ${hostname()}: ${text}`;
  if (known !== null && noInput.test(known.code)) {
    const hint =
      "make it readable under the same path on every machine, then continue with --resume";
    return new FatalError(known.code, message, { cause: error, hint });
  }
  const options = { cause: error, ...(known?.hint ? { hint: known.hint } : {}) };
  const Located = known instanceof UsageError ? UsageError : FatalError;
  return new Located(known?.code ?? "worker_failed", message, options);
}
