import { existsSync, type Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, ReputeError, UsageError, startAnew } from "../../core/errors.js";
import { isLocked } from "../../core/files/run-lock.js";
import { type ChecksumState, type Damage, RunningChecksum } from "../../core/files/checksum.js";

interface CheckedFile {
  readonly name: string;
  readonly handle: FileHandle;
}

/**
 * Verifies that a file still starts with the bytes read in earlier sessions.
 * @param before checksum of those bytes; null for none
 * @param start offset to continue from
 * @returns the checksum of the bytes before `start`, to be continued
 * @throws FatalError `input_changed`, `input_unreadable`
 */
export async function verifyInput(
  file: CheckedFile,
  before: ChecksumState | null,
  start: number,
): Promise<RunningChecksum> {
  const checksum = new RunningChecksum(before);
  await readUpTo(file, checksum, start);
  const atStart = checksum.fork();
  await readUpTo(file, checksum, before?.bytes ?? 0);
  return atStart;
}

/**
 * Verifies that a file wasn't changed while it was read. Growing is allowed, as log files do.
 * @param opened the file's stat when it was opened
 * @param read checksum of the bytes read
 * @throws FatalError `input_changed`, `input_unreadable`
 */
export async function mustBeUnchanged(
  file: CheckedFile,
  opened: Stats,
  read: ChecksumState,
): Promise<void> {
  const { name, handle } = file;
  const { size, mtimeMs } = await handle.stat();
  if (size < opened.size || size < read.bytes) {
    const most = Math.max(opened.size, read.bytes);
    throw changed(`${name} was truncated while it was read, from ${most} to ${size} bytes`);
  }
  if (size === opened.size && mtimeMs === opened.mtimeMs) return;
  await readUpTo(file, new RunningChecksum(read), read.bytes);
}

/** Passes the bytes of an input on and compares them with those of earlier sessions. */
export async function* checkedBytes(
  stream: AsyncIterable<Buffer | string>,
  name: string,
  read: { readonly checksum: RunningChecksum },
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk;
      const damage = read.checksum.update(bytes);
      if (damage !== null) throw inputChanged(name, damage);
      if (bytes.length > 0) yield bytes;
    }
  } catch (error) {
    throw error instanceof ReputeError ? error : readError(name, read.checksum.bytes, error);
  }
}

function inputChanged(name: string, { from, to }: Damage): FatalError {
  return changed(`${name} has changed since it was read, between byte ${from} and byte ${to}`);
}

function changed(message: string): FatalError {
  return new FatalError("input_changed", message, { hint: startAnew });
}

async function readUpTo(
  { name, handle }: CheckedFile,
  checksum: RunningChecksum,
  length: number,
): Promise<void> {
  const damage = await checksum.read(handle, length).catch((error: unknown) => {
    throw readError(name, checksum.bytes, error);
  });
  if (damage !== null) throw inputChanged(name, damage);
  if (checksum.bytes < length) throw tooShortError(name, length);
}

/** What to do about the missing output of an unfinished run; null if there is no such run. */
export async function unfinishedHint(output: string): Promise<string | null> {
  const state = `${output}.state`;
  if (!existsSync(state)) return null;
  return (await isLocked(join(state, "run.db")))
    ? "its run is in progress: wait until it has ended"
    : "its run was interrupted: repeat the command of that run with --resume";
}

export async function openError(name: string, cause: unknown): Promise<ReputeError> {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new UsageError("input_not_found", `there is no file ${name}`, {
      cause,
      hint: (await unfinishedHint(name)) ?? "check the path",
    });
  }
  if (code === "EISDIR") return directoryError(name);
  if (code === "EACCES" || code === "EPERM") {
    return new FatalError("input_unreadable", `no permission to read ${name}`, {
      cause,
      hint: "check the permissions of the file and its parent folders",
    });
  }
  return new FatalError("input_unreadable", `cannot open ${name}: ${reason(cause)}`, { cause });
}

export function directoryError(name: string): UsageError {
  return new UsageError("input_is_directory", `${name} is a directory, not a file`, {
    hint: "name one file, or concatenate several and pipe them in",
  });
}

function readError(name: string, bytesRead: number, cause: unknown): FatalError {
  const message = `cannot read ${name} after byte ${bytesRead}: ${reason(cause)}`;
  return new FatalError("input_unreadable", message, { cause });
}

/** The error for a resumed input that ends before the offset to continue from. */
export function tooShortError(name: string, offset: number): FatalError {
  return new FatalError(
    "input_changed",
    `${name} ends before byte ${offset}, where the earlier run stopped`,
    { hint: startAnew },
  );
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
