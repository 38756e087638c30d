import type { ErrorCode } from "../core/error-codes.js";
import { FatalError } from "../core/errors.js";

const causes: Readonly<Record<string, readonly [code: ErrorCode, text: string, hint: string]>> = {
  ENOSPC: ["output_disk_full", "the disk is full", "free some space, then run again"],
  EDQUOT: ["output_disk_full", "the disk quota is used up", "free some space, then run again"],
  EFBIG: ["output_too_large", "the file has reached its largest size", "write elsewhere"],
  EIO: ["output_io", "the disk reports an error", "check the disk, then run again"],
  EROFS: ["output_read_only", "the file system is read-only", "write elsewhere"],
  EACCES: ["output_denied", "permission denied", "check the folder's owner and mode"],
  EPERM: ["output_denied", "operation not permitted", "check the folder's owner and mode"],
  ENOENT: ["output_folder_missing", "the folder does not exist", "create the folder first"],
  ENOTDIR: ["output_folder_missing", "a part of the path is no folder", "check the path"],
  EISDIR: ["output_is_directory", "it is a directory", "name a file"],
};

/** Explains why an output cannot be written, for the person who has to mend it. */
export function outputFault(path: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const known = causes[code];
  if (known) {
    return new FatalError(known[0], `cannot write ${path}: ${known[1]}`, {
      cause: error,
      hint: known[2],
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new FatalError("output_unwritable", `cannot write ${path}: ${text}`, { cause: error });
}
