import { FatalError, ReputeError } from "../../core/errors.js";

/** Explains why a journal cannot be opened, read or written, for the person who has to mend it. */
export function journalFault(
  folder: string,
  doing: "open" | "read" | "write",
  error: unknown,
): Error {
  if (error instanceof ReputeError) return error;
  const errno = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const known = typeof errno === "string" ? causes[errno] : undefined;
  if (known) {
    return new FatalError(known[0], `cannot ${doing} the journal ${folder}: ${known[1]}`, {
      cause: error,
      hint: known[2],
    });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new FatalError("journal_unusable", `cannot ${doing} the journal ${folder}: ${text}`, {
    cause: error,
    hint: "check the disk; with --restart the run begins anew, without the journal",
  });
}

/** What is said of a journal that cannot be read because its files are laid out differently. */
export function otherVersion(folder: string): FatalError {
  return new FatalError("journal_format", `another version of repute wrote the journal ${folder}`, {
    hint: "go on with that version, or begin anew with --restart",
  });
}

/** What is said of a journal that is not what was written. */
export function damaged(folder: string, how: string): FatalError {
  return new FatalError("journal_damaged", `the journal ${folder} is damaged: ${how}`, {
    hint: "with --restart the run begins anew, without the journal",
  });
}

const full = "free some space, then run again";

const files = "raise the limit (ulimit -n), then go on with --resume";

const causes: Readonly<Record<string, readonly [code: string, text: string, hint: string]>> = {
  ENOSPC: ["journal_disk_full", "the disk is full", full],
  EDQUOT: ["journal_disk_full", "the disk quota is used up", full],
  EMFILE: ["journal_files", "too many files are open", files],
  ENFILE: ["journal_files", "too many files are open on this machine", files],
  EFBIG: ["journal_full", "it cannot become any longer", "split the input"],
  EROFS: ["journal_read_only", "the file system is read-only", "write elsewhere"],
  EACCES: ["journal_denied", "permission denied", "check the folder's owner and mode"],
  EPERM: ["journal_denied", "operation not permitted", "check the folder's owner and mode"],
  ENOENT: ["journal_folder_missing", "the folder does not exist", "was it moved during the run?"],
  ENOTDIR: ["journal_folder_missing", "a part of the path is no folder", "check the path"],
};
