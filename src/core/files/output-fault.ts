import { FatalError } from "../errors.js";
import { faultReason, knownFault } from "./system-fault.js";

const codes = {
  ENOSPC: "output_disk_full",
  EDQUOT: "output_disk_full",
  EFBIG: "output_too_large",
  EIO: "output_io",
  EROFS: "output_read_only",
  EACCES: "output_denied",
  EPERM: "output_denied",
  ENOENT: "output_folder_missing",
  ENOTDIR: "output_folder_missing",
  EISDIR: "output_is_directory",
  EMFILE: "output_files",
  ENFILE: "output_files",
} as const;

const unknownFault = {
  code: "output_unwritable",
  hint: "check the path and the disk, then run again",
} as const;

export function outputFault(path: string, error: unknown): FatalError {
  const { code, hint } = knownFault(error, codes) ?? unknownFault;
  const message = `cannot write ${path}: ${faultReason(error)}`;
  return new FatalError(code, message, { cause: error, hint });
}
