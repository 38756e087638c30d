import { constants, existsSync } from "node:fs";
import { access, type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { FatalError } from "../core/errors.js";
import { startOver } from "../core/remedies.js";
import { RunningChecksum } from "../core/files/running-checksum.js";
import { syncFolder } from "../core/files/make-folder.js";
import { outputFault } from "./output-fault.js";
import type { Destination, SinkPosition } from "./types.js";
import { once } from "node:events";
import type { Writable } from "node:stream";

export function partPath(path: string): string {
  return `${path}.part`;
}

/** Removes an abandoned output's part file; anything else of that name stays. */
export async function removePart(path: string): Promise<void> {
  const facts = await lstat(partPath(path)).catch(() => null);
  if (facts?.isFile()) await rm(partPath(path), { force: true });
}

/** Gives a complete part file its name. Does nothing if it has it. */
export async function renamePart(path: string, suffix = ""): Promise<void> {
  const name = path + suffix;
  try {
    await rename(partPath(path), name).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
      if (!existsSync(name)) throw outputGone(name);
    });
    await syncFolder(dirname(name));
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(name, error);
  }
}

/** The error for an output that is neither waiting for its name nor has it. */
export function outputGone(path: string): FatalError {
  const message = `the output of the finished run is missing: ${path}`;
  return new FatalError("output_gone", message, { hint: startOver });
}

export async function checkWritable(folder: string, path: string): Promise<void> {
  await access(folder, constants.W_OK).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

export type WrittenPosition = Pick<SinkPosition, "length" | "checksum">;

/**
 * A file written as `PATH.part` and renamed to `PATH` when complete, so that readers never see half
 * of it.
 * @param resume position to verify an existing part against and truncate it to; null starts over
 */
export async function openFileDestination(
  path: string,
  resume: WrittenPosition | null,
): Promise<Destination> {
  const part = partPath(path);
  // An empty part is removed when a run is abandoned.
  const isNew = resume === null || resume.length === 0;
  let handle: FileHandle;
  try {
    handle = await open(part, isNew ? newFile : existingFile, 0o666);
  } catch (error) {
    if (!isNew && (error as NodeJS.ErrnoException).code === "ENOENT") throw partGone(part);
    const facts = await lstat(part).catch(() => null);
    if (!facts?.isSymbolicLink()) throw outputFault(part, error);
    // repute never creates a link, and doesn't touch its target.
    throw new FatalError("output_part_link", `cannot write ${part}: it is a symbolic link`, {
      hint: "remove the link, then run again",
    });
  }
  if (isNew) return fileDestination(path, handle, new RunningChecksum());
  try {
    const checksum = await verifyPart(part, handle, resume);
    await handle.truncate(resume.length);
    return fileDestination(path, handle, checksum);
  } catch (error) {
    await handle.close();
    throw error instanceof FatalError ? error : outputFault(part, error);
  }
}

export async function writePart<T>(
  path: string,
  write: (destination: Destination) => Promise<T>,
): Promise<T> {
  const destination = await openFileDestination(path, null);
  try {
    const result = await write(destination);
    await destination.sync();
    return result;
  } finally {
    await destination.abandon();
  }
}

/**
 * Verifies what an interrupted run wrote, up to its checkpoint.
 * @returns the checksum, to be continued
 */
export async function verifyPart(
  part: string,
  handle: FileHandle,
  { length, checksum: before }: WrittenPosition,
): Promise<RunningChecksum> {
  if (before?.bytes !== length) throw partGone(part);
  const mustHave = (size: number): void => {
    if (size < length) {
      throw partGone(part, `has ${size} bytes; the interrupted run wrote ${length}`);
    }
  };
  mustHave((await handle.stat()).size);
  const checksum = new RunningChecksum(before);
  const damage = await checksum.read(handle, length);
  if (damage !== null) {
    const message = `${part} is damaged between byte ${damage.from} and byte ${damage.to}`;
    throw new FatalError("output_part_damaged", message, { hint: startOver });
  }
  mustHave(checksum.bytes);
  return checksum;
}

/** The error for a part file that is missing, too short or not the interrupted run's. */
export function partGone(part: string, what = "is not the file that the interrupted run left") {
  return new FatalError("output_part_gone", `${part} ${what}`, { hint: startOver });
}

/** Windows has no O_NOFOLLOW; links are followed there. */
const noLink = constants.O_NOFOLLOW ?? 0;
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
    async finish(suffix = "") {
      try {
        await handle.sync();
        await handle.close();
      } catch (error) {
        throw outputFault(path + suffix, error);
      }
      await renamePart(path, suffix);
    },
    async abandon() {
      await handle.close().catch(() => undefined);
      if (length === 0) await rm(partPath(path), { force: true });
    },
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
    async finish() {
      if (fault !== null) throw explain(fault);
      if (stream.writableNeedDrain) await once(stream, "drain");
      stream.off("error", onError);
    },
    abandon: () => Promise.resolve(),
  };
}
