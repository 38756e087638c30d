import { ReputeError } from "../../core/errors.js";

/** Says in a sentence why a cache cannot be used, and what can be done about it. */
export function cacheFault(
  cache: string,
  doing: "open" | "read" | "write",
  error: unknown,
): string {
  if (error instanceof ReputeError) {
    return error.hint === null ? error.message : `${error.message}; ${error.hint}`;
  }
  return `cannot ${doing} the cache ${cache}: ${systemFault(error)}`;
}

/** What the system refused, as the end of a sentence. */
export function systemFault(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? "";
  const text = error instanceof Error ? error.message : String(error);
  return causes[code] ?? text;
}

const causes: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "operation not permitted",
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is no folder",
  EEXIST: "it is no folder",
};
