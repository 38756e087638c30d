import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { FatalError, type ReputeError, UsageError } from "../core/errors.js";
import {
  type ChecksumState,
  type Damage,
  RunningChecksum,
} from "../core/files/running-checksum.js";

/** A file, or a part of it, whose bytes are counted from `base`. */
export interface CheckedFile {
  readonly name: string;
  readonly handle: FileHandle;
  /** @default 0 */
  readonly base?: number;
}

/** Bytes read at once. */
const readBytes = 1024 * 1024;

/**
 * Makes sure that a file still begins with what an earlier part of the run read of it.
 *
 * @param before checksum of that; null where nothing was read
 * @param start where reading goes on
 * @returns the checksum of the bytes before `start`, ready for those that follow
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
 * Makes sure that a file that was read to its end was not changed meanwhile. One that only became
 * longer is fine: log files do.
 *
 * @param opened what the file was like when it was opened
 * @param read checksum of what was read of it
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
    throw changed(`${name} became shorter while it was read: ${most} bytes, now ${size}`);
  }
  if (size === opened.size && mtimeMs === opened.mtimeMs) return;
  await readUpTo(file, new RunningChecksum(read), read.bytes);
}

/** What is said of an input whose bytes are not those that were read before. */
export function inputChanged(name: string, { from, to }: Damage): FatalError {
  return changed(`${name} has changed between byte ${from} and byte ${to} since it was read`);
}

function changed(message: string): FatalError {
  return new FatalError("input_changed", message, {
    hint: "restore the input and continue with --resume, or start anew with --restart",
  });
}

async function readUpTo(
  { name, handle, base = 0 }: CheckedFile,
  checksum: RunningChecksum,
  length: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(readBytes, length - checksum.bytes)));
  while (checksum.bytes < length) {
    const at = checksum.bytes;
    const most = Math.min(buffer.length, length - at);
    const { bytesRead } = await handle.read(buffer, 0, most, base + at).catch((error: unknown) => {
      throw readError(name, at, error);
    });
    if (bytesRead === 0) throw tooShortError(name, length);
    const damage = checksum.update(buffer.subarray(0, bytesRead));
    if (damage !== null) throw inputChanged(name, damage);
  }
}

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
