import { FatalError, ReputeError } from "../../core/errors.js";

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
