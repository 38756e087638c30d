import { FatalError, ReputeError } from "../../../core/errors.js";
import { startOver } from "../../../core/remedies.js";
import { faultReason, knownFault } from "../../../core/files/system-fault.js";

export function journalFault(
  folder: string,
  doing: "open" | "read" | "write",
  error: unknown,
): ReputeError {
  if (error instanceof ReputeError) return error;
  const { code, hint } = knownFault(error, codes) ?? unknownFault;
  const message = `cannot ${doing} the journal ${folder}: ${faultReason(error)}`;
  return new FatalError(code, message, { cause: error, hint });
}

export function journalVersionMismatch(folder: string): FatalError {
  return new FatalError("journal_format", `another version of repute wrote the journal ${folder}`, {
    hint: `continue with that version, or ${startOver}`,
  });
}

export function journalDamaged(folder: string, how: string): FatalError {
  return new FatalError("journal_damaged", `the journal ${folder} is damaged: ${how}`, {
    hint: startOver,
  });
}

const unknownFault = {
  code: "journal_unusable",
  hint: `check the disk, or ${startOver}`,
} as const;

const codes = {
  ENOSPC: "journal_disk_full",
  EDQUOT: "journal_disk_full",
  EMFILE: "journal_files",
  ENFILE: "journal_files",
  EFBIG: "journal_full",
  EROFS: "journal_read_only",
  EACCES: "journal_denied",
  EPERM: "journal_denied",
  ENOENT: "journal_folder_missing",
  ENOTDIR: "journal_folder_missing",
} as const;
