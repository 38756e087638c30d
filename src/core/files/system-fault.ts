const faults: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  ENOSPC: ["the disk is full", "free some space, then run again"],
  EDQUOT: ["the disk quota is used up", "free some space, then run again"],
  EFBIG: [
    "the file has reached its maximum size",
    "raise the limit of file sizes (ulimit -f), or split the input",
  ],
  EIO: ["the disk reports an error", "check the disk, then run again"],
  EMFILE: ["too many open files", "raise the limit with ulimit -n 1024, then run again"],
  ENFILE: ["too many open files on this machine", "close other programs, then run again"],
  EAGAIN: ["the system refuses another thread", "raise the limit with ulimit -u, then run again"],
  ENOMEM: ["out of memory", "free memory or raise the limit with ulimit -v, then run again"],
  EROFS: ["the file system is read-only", "write to another folder"],
  EACCES: ["permission denied", "check the owner and permissions of the folder"],
  EPERM: ["operation not permitted", "check the owner and permissions of the folder"],
  ENOENT: ["the folder does not exist", "create the folder, then run again"],
  ENOTDIR: ["part of the path is not a folder", "check the path"],
  EEXIST: ["it is not a folder", "remove the file or name another folder"],
  EISDIR: ["it is a directory", "name a file"],
};

function errnoOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" ? code : "";
}

export function faultReason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return faults[errnoOf(error)]?.[0] ?? text;
}

/** Reason and hint for a limit of the process or machine, which any operation may reach; null for others. */
export function limitFault(error: unknown): readonly [reason: string, hint: string] | null {
  const errno = errnoOf(error);
  return limits.has(errno) ? (faults[errno] ?? null) : null;
}

const limits: ReadonlySet<string> = new Set(["EMFILE", "ENFILE", "EAGAIN", "ENOMEM"]);

/** The hint for a system error with a code in `codes`, and that code; null for any other error. */
export function knownFault<Code extends string>(
  error: unknown,
  codes: Readonly<Record<string, Code>>,
): { readonly code: Code; readonly hint: string } | null {
  const errno = errnoOf(error);
  const [code, fault] = [codes[errno], faults[errno]];
  return code === undefined || fault === undefined ? null : { code, hint: fault[1] };
}

/** Error codes of OpenSSL's verification and Node.js's host name check (Node.js documentation: tls, X509 certificate error codes). */
const certificateCode =
  /^(?:CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERR_TLS_CERT_)/;

export function isCertificateFault(code: string | undefined): boolean {
  return code !== undefined && certificateCode.test(code);
}
