import { FatalError } from "../errors.js";
import { faultReason, systemFault } from "./system-fault.js";

export function outputFault(path: string, error: unknown): FatalError {
  const [, hint, code] = systemFault(error) ?? [];
  const message = `cannot write ${path}: ${faultReason(error)}`;
  return code === undefined
    ? new FatalError("output_unwritable", message, { cause: error, hint: unknownHint })
    : new FatalError(code, message, { cause: error, hint });
}

const unknownHint = "check the path and the disk, then run again";
