import { FatalError } from "../errors.js";

type Fault = readonly [reason: string, hint: string, outputCode?: string];

/** By the code of the system: the third is the code of the error if an output cannot be written. */
const faults: Readonly<Record<string, Fault>> = {
  ENOSPC: ["the disk is full", "free some space, then run again", "output_disk_full"],
  EDQUOT: ["the disk quota is used up", "free some space, then run again", "output_disk_full"],
  EFBIG: [
    "the file has reached its maximum size",
    "raise the limit of file sizes (ulimit -f), or split the input",
    "output_too_large",
  ],
  EIO: ["the disk reports an error", "check the disk, then run again", "output_io"],
  EMFILE: [
    "too many open files",
    "raise the limit with ulimit -n 1024, then run again",
    "output_files",
  ],
  ENFILE: [
    "too many open files on this machine",
    "close other programs, then run again",
    "output_files",
  ],
  EAGAIN: ["the system refuses another thread", "raise the limit with ulimit -u, then run again"],
  ENOMEM: ["out of memory", "free memory or raise the limit with ulimit -v, then run again"],
  EROFS: ["the file system is read-only", "write to another folder", "output_read_only"],
  EACCES: ["permission denied", "check the owner and permissions of the folder", "output_denied"],
  EPERM: [
    "operation not permitted",
    "check the owner and permissions of the folder",
    "output_denied",
  ],
  ENOENT: [
    "the folder does not exist",
    "create the folder, then run again",
    "output_folder_missing",
  ],
  ENOTDIR: ["part of the path is not a folder", "check the path", "output_folder_missing"],
  EEXIST: ["it is not a folder", "remove the file or name another folder"],
  EISDIR: ["it is a directory", "name a file", "output_is_directory"],
};

/** What is known of a system error; null for any other. */
export function systemFault(error: unknown): Fault | null {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return (typeof code === "string" ? faults[code] : undefined) ?? null;
}

export function faultReason(error: unknown): string {
  return systemFault(error)?.[0] ?? (error instanceof Error ? error.message : String(error));
}

export function outputFault(path: string, error: unknown): FatalError {
  const [, hint = "check the path and the disk, then run again", code = "output_unwritable"] =
    systemFault(error) ?? [];
  const message = `cannot write ${path}: ${faultReason(error)}`;
  return new FatalError(code, message, { cause: error, hint });
}

/** Error codes of OpenSSL's verification and Node.js's host name check (Node.js documentation: tls, X509 certificate error codes). */
const certificateCode =
  /^(?:CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERR_TLS_CERT_)/;

export function isCertificateFault(code: string | undefined): boolean {
  return code !== undefined && certificateCode.test(code);
}
