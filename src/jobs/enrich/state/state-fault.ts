import { explainFault } from "../../../client/store/sqlite-file.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/output-fault.js";

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ReputeError && error.code === code;
}

/** Explains an error of SQLite or the system. */
export function stateFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const { kind, message, cause } = explainFault(path, error);
  if (kind === "damaged") {
    const hint = `${startOver}: it keeps the answers that can be read`;
    return new FatalError("state_damaged", message, { cause, hint });
  }
  if (kind === "version") {
    const hint = `finish the run with that version, or ${startOver}`;
    return new UsageError("state_version", message, { hint });
  }
  const fault = outputFault(path, cause);
  if (kind !== "locks") return fault;
  const hint = "name a folder on a local disk with --state-dir";
  return new FatalError(fault.code, message, { cause, hint });
}
