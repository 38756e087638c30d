import type { Stats } from "node:fs";
import { type FileHandle, open, stat as statPath } from "node:fs/promises";
import type { Readable } from "node:stream";
import { FatalError, ReputeError, UsageError, startAnew } from "../../core/errors.js";
import { type ChecksumState, RunningChecksum } from "../../core/files/checksum.js";
import { openSilent } from "../../core/files/read-path.js";
import { faultReason } from "../../core/files/system-fault.js";
import { isObjectAddress } from "../s3/address.js";
import { peek } from "../formats/reading/sample.js";
import { type LineEnd, limits } from "../formats/reading/lines.js";
import { decode, refuseBinary } from "./decode.js";
import type { AnyInput, Encoding, InputBytes, SourceInput } from "./types.js";

export interface InputOptions extends Encoding {
  /** Checksum of the stored bytes read in earlier sessions, which must still match. */
  readonly before?: ChecksumState | undefined;
  /** Read any text, also HTML and XML, in chunks of this size. @default only what has rows */
  readonly textBytes?: number;
}

/**
 * Opens a file or a stream. Reading it throws FatalError `input_changed` if its bytes differ from what
 * earlier sessions read, or if the file changes during reading other than by growing.
 *
 * @throws UsageError `input_not_found`, `input_is_directory`
 * @throws FatalError `input_unreadable`, `input_gzip`, `input_changed`
 */
export async function openInput(input: AnyInput, options: InputOptions): Promise<InputBytes> {
  if ("opened" in input) return input.opened;
  const stored = await openStored(input, options);
  const { name } = stored;
  try {
    const warnings: string[] = [];
    const { head, chunks } = await peek(
      await decode(stored, options, warnings),
      (bytes) => bytes.length >= limits.headBytes || bytes.includes("\n"),
    );
    refuseBinary(head, name, options.textBytes !== undefined);
    const closing = { [Symbol.asyncDispose]: stored.close };
    return { ...stored, ...closing, chunks, lineEnd: lineEndOf(head), warnings };
  } catch (error) {
    await stored.close();
    throw error;
  }
}

/**
 * Detects the line end. CR counts only if there is no LF, so that a stray CR in a cell is
 * preserved.
 */
function lineEndOf(head: Buffer): LineEnd {
  const looked = head.subarray(0, limits.headBytes);
  return looked.includes("\r") && !looked.includes("\n") ? "cr" : "lf";
}

/** An input before decompression and decoding. */
type StoredInput = Omit<InputBytes, "lineEnd" | "warnings" | typeof Symbol.asyncDispose>;

/** Bytes that are read at once. All rows of a chunk stay in memory until the last one starts. */
const rowsBytes = 16 * 1024;

async function openStored(
  input: SourceInput,
  { before, textBytes = rowsBytes }: InputOptions,
): Promise<StoredInput> {
  const checksum = new RunningChecksum(before);
  const facts = { bytesRead: () => checksum.bytes, checksum: () => checksum.state() };
  const ofStream = (name: string, stream: Readable): StoredInput => {
    const chunks = checkedBytes(stream, name, checksum);
    return { ...facts, name, bytesTotal: null, chunks, close: async () => void stream.destroy() };
  };
  if (!("path" in input)) return ofStream(input.name, input.stream);
  const { path, copyOf } = input;
  if (isObjectAddress(path)) {
    // It is read once: to look into it, or because nothing resumes.
    const { pinObject, readObject } = await import("../s3/objects.js");
    const pinned = await pinObject(path);
    const stop = new AbortController();
    const chunks = checkedBytes(readObject(pinned, stop), path, checksum);
    const close = async (): Promise<void> => stop.abort();
    return { ...facts, name: path, bytesTotal: pinned.size, chunks, close };
  }
  const found = await statPath(path).catch(() => null);
  let handle: FileHandle;
  try {
    const stream = found && openSilent(path, found);
    if (stream !== null) return ofStream(path, stream);
    handle = await open(path);
  } catch (error) {
    throw openError(path, error);
  }
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw openError(path, { code: "EISDIR" });
  }
  async function* chunks(): AsyncGenerator<Buffer> {
    yield* checkedBytes(bytesOf(handle, textBytes), path, checksum);
    if (stat.isFile()) await mustBeUnchanged(path, handle, stat, checksum.state());
  }
  return {
    ...facts,
    name: copyOf?.name ?? path,
    bytesTotal: stat.isFile() ? stat.size : null,
    chunks: chunks(),
    close: () => handle.close(),
  };
}

/**
 * Reads a file. A stream would leave the handle open after its end.
 *
 * @param from where it begins in a regular file. @default at the current position
 */
async function* bytesOf(
  handle: FileHandle,
  chunkBytes: number,
  from: number | null = null,
): AsyncGenerator<Buffer> {
  for (let read = 0; ;) {
    const chunk = Buffer.allocUnsafe(chunkBytes);
    const position = from === null ? null : from + read;
    const { bytesRead } = await handle.read(chunk, 0, chunkBytes, position);
    if (bytesRead === 0) return;
    read += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

/** Passes the bytes of an input on and compares them with those of earlier sessions. */
async function* checkedBytes(
  stream: AsyncIterable<Buffer | string>,
  name: string,
  checksum: RunningChecksum,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk;
      const damage = checksum.update(bytes);
      if (damage !== null) {
        const { from, to } = damage;
        throw changed(`${name} has changed since it was read, between byte ${from} and byte ${to}`);
      }
      if (bytes.length > 0) yield bytes;
    }
  } catch (error) {
    if (error instanceof ReputeError) throw error;
    const message = `cannot read ${name} after byte ${checksum.bytes}: ${faultReason(error)}`;
    throw new FatalError("input_unreadable", message, { cause: error });
  }
  // It may end after the rows that were written, but before everything that was read.
  if (checksum.awaited > 0) {
    throw changed(`${name} ends before byte ${checksum.awaited}, where the earlier run stopped`);
  }
}

/**
 * Reads a file and compares its beginning with the bytes read in earlier sessions.
 *
 * @param before checksum of those bytes; null for none
 * @returns the checksum of the whole file
 * @throws FatalError `input_changed`, `input_unreadable`
 */
export async function verifyFile(
  path: string,
  before: ChecksumState | null,
  name = path,
): Promise<ChecksumState> {
  await using handle = await open(path);
  return await verified(name, handle, before);
}

async function verified(
  name: string,
  handle: FileHandle,
  before: ChecksumState | null,
): Promise<ChecksumState> {
  const checksum = new RunningChecksum(before);
  for await (const _ of checkedBytes(bytesOf(handle, 16 * rowsBytes, 0), name, checksum));
  return checksum.state();
}

/**
 * Verifies that a file wasn't changed while it was read. Growing is allowed, as log files do.
 * @param opened the file's stat when it was opened
 * @param read checksum of the bytes read
 */
async function mustBeUnchanged(
  name: string,
  handle: FileHandle,
  opened: Stats,
  read: ChecksumState,
): Promise<void> {
  const { size, mtimeMs } = await handle.stat();
  const most = Math.max(opened.size, read.bytes);
  if (size < most) {
    throw changed(`${name} was truncated while it was read, from ${most} to ${size} bytes`);
  }
  if (size !== opened.size || mtimeMs !== opened.mtimeMs) await verified(name, handle, read);
}

function changed(message: string): FatalError {
  return new FatalError("input_changed", message, { hint: startAnew });
}

export function openError(name: string, cause: unknown): ReputeError {
  const { code = "" } = (cause ?? {}) as NodeJS.ErrnoException;
  if (["ENOENT", "ENOTDIR"].includes(code)) {
    const hint = "check the path";
    return new UsageError("input_not_found", `there is no file ${name}`, { cause, hint });
  }
  if (code === "EISDIR") {
    return new UsageError("input_is_directory", `${name} is a directory, not a file`, {
      hint: "name one file, or concatenate several and pipe them in",
    });
  }
  const hint = ["EACCES", "EPERM"].includes(code)
    ? "check the permissions of the file and its parent folders"
    : undefined;
  const message = `cannot read ${name}: ${faultReason(cause)}`;
  return new FatalError("input_unreadable", message, { cause, hint });
}
