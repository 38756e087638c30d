import { ServiceError } from "../../client/api/status-fault.js";
import { FatalError, ReputeError } from "../../core/errors.js";

/**
 * A fault of one tag's list: `snapshot_drift`, `count_mismatch`, `invalid_entry`, `other_tag`,
 * `invalid_tag_name`, `file_name_taken` … Other tags continue.
 */
export class TagExportError extends ReputeError {}

export function exportFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  // Node.js messages look like "ENOSPC: no space left on device, write".
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(text)?.[1] ?? text;
  return new FatalError("export_unwritable", `cannot write ${path}: ${reason}`, {
    cause: error,
    hint: "fix that and run again: the folder still holds the previous export, and the pages read so far are kept",
  });
}

export function isTagFault(error: unknown): error is ServiceError | TagExportError {
  return error instanceof ServiceError || error instanceof TagExportError;
}

/** Whether a fault, after all retries, is one of a service that is down or answers with errors. */
export function mayPass(fault: unknown): fault is ServiceError {
  return fault instanceof ServiceError && fault.again !== null;
}
