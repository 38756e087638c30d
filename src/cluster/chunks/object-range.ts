import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { RunningChecksum } from "../../core/files/running-checksum.js";
import { FatalError, ReputeError } from "../../core/errors.js";
import { limits } from "../../formats/reading/lines.js";
import { type PinnedObject, pinObject, readObject } from "../../s3/read-object.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { ChunkInput } from "./work-plan.js";

/**
 * Copies the part of an object that a chunk reads to a file, at the same offsets; the rest of the
 * file is a hole. A file that already has the part stays.
 *
 * @param etag the version that was divided; by default, any that has the same part
 * @throws FatalError `input_changed`; as `readObject`
 */
export async function fetchRange(
  { path: address, range, copyOf }: ChunkInput,
  path: string,
  { etag, signal }: { readonly etag?: string | undefined; readonly signal: AbortSignal },
): Promise<ChunkInput> {
  const input = { path, range, ...(copyOf && { copyOf }) };
  if (await hasRange(path, range)) return input;
  const object = await pinObject(address);
  if (etag !== undefined && object.etag !== etag) throw changed(address);
  const fresh = `${path}.new`;
  try {
    const file = await open(fresh, "w", 0o600);
    try {
      // Readers detect the line end at the start of the file.
      if (range.start > 0) await copyBytes(object, file, 0, limits.headBytes, signal);
      await copyBytes(object, file, range.start, range.end, signal);
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    signal.throwIfAborted();
    throw error instanceof ReputeError ? error : outputFault(path, error);
  }
  if (!(await hasRange(path, range))) throw changed(address);
  return input;
}

async function copyBytes(
  object: PinnedObject,
  file: FileHandle,
  start: number,
  end: number,
  signal: AbortSignal,
): Promise<void> {
  let at = start;
  const range = { start, end: Math.min(end, object.size), signal };
  for await (const bytes of readObject(object, range)) {
    for (let done = 0; done < bytes.length;) {
      const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at);
      done += bytesWritten;
      at += bytesWritten;
    }
  }
}

/** Whether a file has a range with the checksum of the plan. */
async function hasRange(
  path: string,
  { start, end, checksum }: ChunkInput["range"],
): Promise<boolean> {
  const file = await open(path, "r").catch(() => null);
  if (file === null) return false;
  try {
    const found = new RunningChecksum(checksum);
    return (await found.read(file, end - start, start)) === null && found.bytes === end - start;
  } finally {
    await file.close();
  }
}

function changed(address: string): FatalError {
  return new FatalError("input_changed", `${address} has changed since it was split`, {
    hint: "restore the input as it was when it was split, or split it again",
  });
}
