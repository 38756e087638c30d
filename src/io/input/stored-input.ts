import { type FileHandle, open, stat as statPath } from "node:fs/promises";
import type { Readable } from "node:stream";
import { openSilent } from "../../core/files/read-path.js";
import { type ChecksumState, RunningChecksum } from "../../core/files/checksum.js";
import {
  checkedBytes,
  directoryError,
  mustBeUnchanged,
  openError,
  tooShortError,
  verifyInput,
} from "./verify-input.js";
import { limits } from "../formats/reading/lines.js";
import type { FileInput, SourceInput, StoredInput } from "./types.js";

/**
 * Read size. All rows of a chunk stay in memory until the last one starts; rows of 64 KiB chunks
 * live long enough to cost 8% more CPU time in garbage collection.
 */
const defaultChunkBytes = 16 * 1024;

/**
 * @param before checksum of the bytes read in earlier sessions; null for none
 * @param chunkBytes read size of a file; the reader of rows needs the default
 * @throws UsageError `input_not_found`, `input_is_directory`
 * @throws FatalError `input_unreadable`
 */
export async function openStored(
  input: SourceInput,
  before: ChecksumState | null = null,
  chunkBytes = defaultChunkBytes,
): Promise<StoredInput> {
  if (!("path" in input)) return fromStream(input, before);
  if (input.isObject !== true) return openFile(input, before, chunkBytes);
  return openObject(input.path);
}

/** Opens an object that is read once: to look into it, or because nothing resumes. */
async function openObject(path: string): Promise<StoredInput> {
  const { pinObject, readObject } = await import("../s3/read-object.js");
  const pinned = await pinObject(path);
  const stop = new AbortController();
  const read = { checksum: new RunningChecksum() };
  return {
    name: path,
    size: pinned.size,
    head: null,
    read,
    chunksFrom: () => checkedBytes(readObject(pinned, stop), path, read),
    close: async () => stop.abort(),
  };
}

async function openFile(
  { path, copyOf }: FileInput,
  before: ChecksumState | null,
  chunkBytes: number,
): Promise<StoredInput> {
  const facts = await statPath(path).catch(() => null);
  let handle: FileHandle;
  try {
    const stream = facts && openSilent(path, facts);
    if (stream !== null) return fromStream({ stream, name: path }, before);
    handle = await open(path);
  } catch (error) {
    throw await openError(path, error);
  }
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw directoryError(path);
  }
  const regular = stat.isFile();
  const read = { checksum: new RunningChecksum(before) };
  let stream: Readable | null = null;
  return {
    name: copyOf?.name ?? path,
    size: regular ? stat.size : null,
    head: regular ? () => headOf(handle) : null,
    read,
    async *chunksFrom(start) {
      const file = { name: path, handle };
      if (regular) read.checksum = await verifyInput(file, before, start);
      // Keep it open at the end: `mustBeUnchanged` checks it before closing.
      const whole = { start, highWaterMark: chunkBytes, autoClose: false };
      stream = handle.createReadStream(regular ? whole : {});
      yield* checkedBytes(stream, path, read);
      if (regular) await mustBeUnchanged(file, stat, read.checksum.state());
    },
    async close() {
      stream?.destroy();
      // Already closed if the stream ended.
      await handle.close().catch(() => {});
    },
  };
}

async function headOf(handle: FileHandle): Promise<Buffer> {
  const head = Buffer.alloc(limits.headBytes);
  const { bytesRead } = await handle.read(head, 0, head.length, 0);
  return head.subarray(0, bytesRead);
}

function fromStream(
  input: { readonly stream: Readable; readonly name: string },
  before: ChecksumState | null,
): StoredInput {
  const read = { checksum: new RunningChecksum(before) };
  return {
    name: input.name,
    size: null,
    head: null,
    read,
    async *chunksFrom() {
      yield* checkedBytes(input.stream, input.name, read);
      // It may end after the rows that were written, but before everything that was read.
      const { awaited } = read.checksum;
      if (awaited > 0) throw tooShortError(input.name, awaited);
    },
    close: async () => {
      input.stream.destroy();
    },
  };
}
