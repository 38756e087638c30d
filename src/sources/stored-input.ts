import { constants, open as openDescriptor } from "node:fs";
import { type FileHandle, open, stat as statPath } from "node:fs/promises";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { directoryError, openError, readError } from "./input-errors.js";
import type { SourceInput } from "./types.js";

/** An input as stored, before anything is decoded. */
export interface StoredInput {
  readonly name: string;
  readonly size: number | null;
  /** Set for a regular file: it can be read from any place. */
  readonly handle: FileHandle | null;
  readonly read: { bytes: number };
  chunksFrom(start: number): AsyncGenerator<Buffer>;
  close(): Promise<void>;
}

/**
 * How much of a file is read at once. All its rows lie in memory until the last of them is begun: of
 * 64 KiB a few hundred rows grow old enough to cost the garbage collector, 3% of a run.
 */
const chunkBytes = 16 * 1024;

/**
 * @throws UsageError `input_not_found`, `input_is_directory`
 * @throws FatalError `input_unreadable`
 */
export async function openStored(input: SourceInput): Promise<StoredInput> {
  return "path" in input ? openFile(input.path) : fromStream(input);
}

async function openFile(path: string): Promise<StoredInput> {
  const facts = await statPath(path).catch(() => null);
  if (facts?.isFIFO()) return openPipe(path);
  const handle = await open(path, constants.O_RDONLY).catch((error: unknown) => {
    throw openError(path, error);
  });
  const stat = await handle.stat();
  if (stat.isDirectory()) {
    await handle.close();
    throw directoryError(path);
  }
  const regular = stat.isFile();
  const read = { bytes: 0 };
  let stream: Readable | null = null;
  return {
    name: path,
    size: regular ? stat.size : null,
    handle: regular ? handle : null,
    read,
    chunksFrom(start) {
      read.bytes = start;
      stream = handle.createReadStream(regular ? { start, highWaterMark: chunkBytes } : {});
      return counted(stream, path, read);
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
async function openPipe(path: string): Promise<StoredInput> {
  const descriptor = await promisify(openDescriptor)(path, constants.O_RDONLY).catch(
    (error: unknown) => {
      throw openError(path, error);
    },
  );
  return fromStream({
    stream: new Socket({ fd: descriptor, readable: true, writable: false }),
    name: path,
  });
}

function fromStream(input: { readonly stream: Readable; readonly name: string }): StoredInput {
  const read = { bytes: 0 };
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
  read: { bytes: number },
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream as AsyncIterable<Buffer | string>) {
      const bytes = typeof chunk === "string" ? Buffer.from(chunk, "utf8") : chunk;
      read.bytes += bytes.length;
      if (bytes.length > 0) yield bytes;
    }
  } catch (error) {
    throw readError(name, read.bytes, error);
  }
}
