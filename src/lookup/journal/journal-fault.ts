import { statfsSync } from "node:fs";
import { FatalError, ReputeError } from "../../core/errors.js";

/** Explains why a journal cannot be opened or written, for the person who has to mend it. */
export function journalFault(folder: string, doing: "open" | "write", error: unknown): Error {
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

/**
 * Makes sure that there is room for a transaction. LMDB itself reports a full disk as an input or
 * output error and does not recover from it, so it must not come to that.
 *
 * @param bytes size of the records that are to be written
 * @throws FatalError with code `journal_disk_full`
 */
export function checkSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= reserve + 2 * bytes) return;
  throw new FatalError(
    "journal_disk_full",
    `cannot write the journal ${folder}: the disk is full`,
    {
      hint: full,
    },
  );
}

/** Room for the pages of tree and free list that a transaction copies beside its records, in bytes. */
const reserve = 1024 * 1024;

const full = "free some space, then run again";

const causes: Readonly<Record<string, readonly [code: string, text: string, hint: string]>> = {
  ENOSPC: ["journal_disk_full", "the disk is full", full],
  EDQUOT: ["journal_disk_full", "the disk quota is used up", full],
  EROFS: ["journal_read_only", "the file system is read-only", "write elsewhere"],
  EACCES: ["journal_denied", "permission denied", "check the folder's owner and mode"],
  EPERM: ["journal_denied", "operation not permitted", "check the folder's owner and mode"],
  ENOENT: ["journal_folder_missing", "the folder does not exist", "was it moved during the run?"],
  ENOTDIR: ["journal_folder_missing", "a part of the path is no folder", "check the path"],
};
