import { constants, open as openDescriptor } from "node:fs";
import { type FileHandle, open, stat as statPath } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { ReputeError } from "../core/errors.js";
import { type ChecksumState, RunningChecksum } from "../core/files/running-checksum.js";
import {
  directoryError,
  inputChanged,
  mustBeUnchanged,
  openError,
  readError,
  tooShortError,
  verifyInput,
} from "./verify-input.js";
import type { InputRange, SourceInput } from "./types.js";

/** An input as stored, before anything is decoded. */
export interface StoredInput {
  readonly name: string;
  readonly size: number | null;
  /** Set for a regular file: it can be read from any place. */
  readonly handle: FileHandle | null;
  /** Checksum of the bytes that were read. */
  readonly read: { checksum: RunningChecksum };
  /**
   * The bytes from a place on.
   *
   * @throws FatalError `input_unreadable`; `input_changed` when they are not what an earlier part of
   * the run read, or when the file is changed otherwise than at its end while it is read
   */
  chunksFrom(start: number): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/**
 * How much of a file is read at once. All its rows are in memory until the last of them is begun:
 * those of 64 KiB grow old enough to cost the garbage collector 8% of a run's CPU time.
 */
const chunkBytes = 16 * 1024;

/**
 * @param before checksum of what an earlier part of the run read; null for none
 * @throws UsageError `input_not_found`, `input_is_directory`
 * @throws FatalError `input_unreadable`
 */
export async function openStored(
  input: SourceInput,
  before: ChecksumState | null = null,
): Promise<StoredInput> {
  return "path" in input ? openFile(input, before) : fromStream(input, before);
}

async function openFile(
  { path, range }: { readonly path: string; readonly range?: InputRange },
  before: ChecksumState | null,
): Promise<StoredInput> {
  const facts = await statPath(path).catch(() => null);
  if (facts?.isFIFO()) return openPipe(path, before);
  const handle = await open(path, constants.O_RDONLY).catch((error: unknown) => {
    throw openError(path, error);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw directoryError(path);
  }
  const regular = stat.isFile();
  const base = range?.start ?? 0;
  const end = range?.end ?? stat.size;
  const read = { checksum: new RunningChecksum(before) };
  let stream: Readable | null = null;
  return {
    name: path,
    size: regular ? end - base : null,
    handle: regular ? handle : null,
    read,
    async *chunksFrom(start) {
      const file = { name: path, handle, base };
      if (regular) read.checksum = await verifyInput(file, before, start);
      const part = range === undefined ? {} : { end: range.end - 1 };
      // Its end is looked at before it is closed.
      const whole = { start: base + start, highWaterMark: chunkBytes, autoClose: false };
      const reading = regular ? { ...whole, ...part } : {};
      stream = handle.createReadStream(reading);
      yield* counted(stream, path, read);
      if (range !== undefined && base + read.checksum.bytes < end) throw tooShortError(path, end);
      if (regular) await mustBeUnchanged(file, stat, read.checksum.state());
    },
    async close() {
      stream?.destroy();
      // Closed already when the stream has come to its end.
      await handle.close().catch(() => {});
    },
  };
}

/**
 * A named pipe, or what a shell puts in the place of `<(command)`. Read as a file it would keep a
 * thread waiting for its writer, which nothing can end: neither closing it nor ending the process.
 */
async function openPipe(path: string, before: ChecksumState | null): Promise<StoredInput> {
  const descriptor = await promisify(openDescriptor)(path, constants.O_RDONLY).catch(
    (error: unknown) => {
      throw openError(path, error);
    },
  );
  const stream = new Socket({ fd: descriptor, readable: true, writable: false });
  return fromStream({ stream, name: path }, before);
}

function fromStream(
  input: { readonly stream: Readable; readonly name: string },
  before: ChecksumState | null,
): StoredInput {
  const read = { checksum: new RunningChecksum(before) };
  return {
    name: input.name,
    size: null,
    handle: null,
    read,
    chunksFrom: () => counted(input.stream, input.name, read),
    close: async () => {
      input.stream.destroy();
    },
  };
}

async function* counted(
  stream: Readable,
  name: string,
  read: { readonly checksum: RunningChecksum },
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk;
      const damage = read.checksum.update(bytes);
      if (damage !== null) throw inputChanged(name, damage);
      if (bytes.length > 0) yield bytes;
    }
  } catch (error) {
    throw error instanceof ReputeError ? error : readError(name, read.checksum.bytes, error);
  }
}
