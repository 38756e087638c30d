import { constants } from "node:fs";
import { access, type FileHandle, lstat, open } from "node:fs/promises";
import { FatalError } from "../../core/errors.js";
import { RunningChecksum } from "../../core/files/checksum.js";
import { outputFault } from "../../core/files/output-fault.js";
import {
  noLink,
  partFault,
  partPath,
  readWritten,
  verifyPart,
  type WrittenPosition,
} from "./part-file.js";
import type { Destination, WrittenFile } from "./types.js";
import { once } from "node:events";
import type { Writable } from "node:stream";

export async function checkWritable(folder: string, path: string): Promise<void> {
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/**
 * A file written as `PATH.part` and renamed to `PATH` when complete, so that readers never see half
 * of it.
 * @param startAt position to verify an existing part against and truncate it to; null starts over
 */
export async function openFileDestination(
  path: string,
  startAt: WrittenPosition | null,
): Promise<Destination> {
  const part = partPath(path);
  // An empty part is removed when a run is abandoned.
  const isNew = startAt === null || startAt.length === 0;
  let handle: FileHandle;
  try {
    handle = await open(part, isNew ? newFile : existingFile, 0o666);
  } catch (error) {
    if (!isNew && (error as NodeJS.ErrnoException).code === "ENOENT") throw partFault(part, error);
    const facts = await lstat(part).catch(() => null);
    if (!facts?.isSymbolicLink()) throw outputFault(part, error);
    // repute never creates a link, and doesn't touch its target.
    throw new FatalError("output_part_link", `cannot write ${part}: it is a symbolic link`, {
      hint: "remove the link, then run again",
    });
  }
  if (isNew) return fileDestination(path, handle, new RunningChecksum());
  try {
    const checksum = await verifyPart(part, handle, startAt);
    await handle.truncate(startAt.length);
    return fileDestination(path, handle, checksum);
  } catch (error) {
    await handle.close();
    throw error instanceof FatalError ? error : outputFault(part, error);
  }
}

/** Writes a whole part file. @returns what is on disk, once it is known to be what was written */
export async function writePart(
  path: string,
  write: (destination: Destination) => Promise<void>,
): Promise<WrittenFile> {
  const destination = await openFileDestination(path, null);
  try {
    await write(destination);
    await destination.close();
  } catch (error) {
    await destination.abandon();
    throw error;
  }
  const { length } = destination;
  return readWritten(path, { length, checksum: destination.checksum() });
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | noLink;
const existingFile = constants.O_RDWR | noLink;

function fileDestination(path: string, handle: FileHandle, checksum: RunningChecksum): Destination {
  let length = checksum.bytes;
  const refuse = (error: unknown): never => {
    throw outputFault(partPath(path), error);
  };
  return {
    path,
    get length() {
      return length;
    },
    checksum: () => checksum.state(),
    async write(bytes) {
      for (let done = 0; done < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, done, undefined, length).catch(refuse);
        done += bytesWritten;
        length += bytesWritten;
      }
      checksum.update(bytes);
    },
    sync: () => handle.datasync().catch(refuse),
    async close() {
      await handle.sync().catch(refuse);
      await handle.close().catch(refuse);
    },
    abandon: () => handle.close().catch(() => undefined),
  };
}

/** The reader of a stream has closed it (`| head`). */
export class OutputClosedError extends FatalError {
  constructor(cause: unknown) {
    super("output_closed", "the reader of the output has closed it", { cause });
  }
}

/** A stream such as stdout. Each write waits until the stream has accepted the bytes. */
export function streamDestination(stream: Writable, name: string): Destination {
  let length = 0;
  let fault: unknown = null;
  const onError = (error: unknown): void => {
    fault ??= error;
  };
  stream.on("error", onError);

  const explain = (error: unknown): Error =>
    (error as NodeJS.ErrnoException).code === "EPIPE" || stream.destroyed
      ? new OutputClosedError(error)
      : outputFault(name, error);

  const write = async (bytes: Uint8Array): Promise<void> => {
    if (fault !== null) throw explain(fault);
    if (stream.destroyed) throw new OutputClosedError(null);
    await new Promise<void>((resolve, reject) => {
      stream.write(bytes, (error) => (error ? reject(explain(error)) : resolve()));
    });
    length += bytes.length;
  };

  return {
    path: null,
    get length() {
      return length;
    },
    checksum: () => null,
    write,
    sync: () => Promise.resolve(),
    async close() {
      if (fault !== null) throw explain(fault);
      if (stream.writableNeedDrain) await once(stream, "drain");
      stream.off("error", onError);
    },
    abandon: () => Promise.resolve(),
  };
}
