import { FatalError, type ReputeError, UsageError } from "../core/errors.js";

/** What a failure to open an input means to the person who named it. */
export function openError(name: string, cause: unknown): ReputeError {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new UsageError("input_not_found", `there is no file ${name}`, { cause });
  }
  if (code === "EISDIR") return directoryError(name);
  if (code === "EACCES" || code === "EPERM") {
    return new FatalError("input_unreadable", `no permission to read ${name}`, {
      cause,
      hint: "Look at the permissions of the file and of the folders above it.",
    });
  }
  return new FatalError("input_unreadable", `cannot open ${name}: ${reason(cause)}`, { cause });
}

export function directoryError(name: string): UsageError {
  return new UsageError("input_is_directory", `${name} is a directory, not a file`, {
    hint: "Name one file; several can be joined and piped in.",
  });
}

/** An input that broke off while it was read. */
export function readError(name: string, bytesRead: number, cause: unknown): FatalError {
  const message = `cannot read ${name} beyond byte ${bytesRead}: ${reason(cause)}`;
  return new FatalError("input_unreadable", message, { cause });
}

/** A resumed input that ends before the place where reading is to go on. */
export function tooShortError(name: string, offset: number): FatalError {
  return new FatalError(
    "input_changed",
    `${name} ends before byte ${offset}, where the earlier run had got to`,
    { hint: "The input is not the one that the run began with; start again with --restart." },
  );
}

/** A range of something that can only be read from its beginning. */
export function notSeekableError(name: string): FatalError {
  const message = `cannot read a part of ${name}: it is compressed or no UTF-8`;
  return new FatalError("input_unreadable", message);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
