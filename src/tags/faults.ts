import { FatalError, ReputeError } from "../core/errors.js";

/**
 * A tag's list cannot be exported, though the service answered: `snapshot_drift`, `count_mismatch`,
 * `invalid_entry`, `other_tag`, `invalid_tag_name`, `file_name_taken`. Other tags go on.
 */
export class TagExportError extends ReputeError {}

/** Explains why the export cannot be written, for the person who has to mend it. */
export function exportFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  // Node.js says "ENOSPC: no space left on device, write".
  const reason = /^E[A-Z0-9]+: ([^,]+)/.exec(text)?.[1] ?? text;
  return new FatalError("export_unwritable", `cannot write ${path}: ${reason}`, {
    cause: error,
    hint: "mend that and run again: the folder holds the export before, and what was read is kept",
  });
}
