import { createHash } from "node:crypto";
import { once } from "node:events";
import { constants, createWriteStream, openSync, statSync } from "node:fs";
import { access, type FileHandle, lstat, open, rename, rm } from "node:fs/promises";
import { Socket } from "node:net";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { systemClock } from "../../core/clock.js";
import { startOver, writeAgain, FatalError } from "../../core/errors.js";
import { syncFolder } from "../../core/files/folders.js";
import { type ChecksumState, type Damage, RunningChecksum } from "../../core/files/checksum.js";
import { outputFault } from "../../core/files/system-fault.js";

/** How much of an output is durable. Plain JSON, stored in the run's checkpoint. */
export interface SinkPosition {
  readonly length: number;
  readonly rows: number;
  /** Files: checksum of that length, verified before a run continues. */
  readonly checksum?: ChecksumState | undefined;
}

export interface Destination {
  /** Final path, or null for a stream. */
  readonly path: string | null;
  /** Bytes written, including earlier sessions. */
  readonly length: number;
  /** Checksum of those bytes; undefined for a stream, which is never read back. */
  checksum(): ChecksumState | undefined;
  write(bytes: Uint8Array): Promise<void>;
  /** Makes written bytes durable (fsync); no effect on a stream. */
  sync(): Promise<void>;
  /** Completes: all bytes are durable, or the reader of a stream has them. */
  close(): Promise<void>;
  /** Closes the destination; written bytes stay under the part name. */
  abandon(): Promise<void>;
}

/** Windows has no O_NOFOLLOW; links are followed there. */
const noLink = constants.O_NOFOLLOW ?? 0;

export function partPath(path: string): string {
  return `${path}.part`;
}

/** Removes an abandoned output's part file; anything else of that name stays. */
export async function removePart(path: string): Promise<void> {
  const facts = await lstat(partPath(path)).catch(() => null);
  if (facts?.isFile()) await rm(partPath(path), { force: true });
}

/** Gives a complete part file its name. @throws FatalError `output_*` */
export async function renamePart(path: string, suffix = ""): Promise<void> {
  const name = path + suffix;
  try {
    await rename(partPath(path), name);
    await syncFolder(dirname(name));
  } catch (error) {
    throw outputFault(name, error);
  }
}

/** The error for an output that is neither waiting for its name nor has it. */
export function outputGone(path: string): FatalError {
  const message = `the output of the finished run is missing: ${path}`;
  return new FatalError("output_gone", message, { hint: startOver });
}

/** How much was written to a file, and its checksum. */
type WrittenPosition = Omit<SinkPosition, "rows">;

/**
 * Compares a part file with what was written to it: every byte, and no more of them.
 *
 * @param take receives the verified bytes
 * @returns how many there are, and their SHA-256 in hex
 * @throws FatalError `output_part_gone`, `output_part_damaged`, `output_*`
 */
export async function readWritten(
  path: string,
  written: WrittenPosition,
  take?: (bytes: Uint8Array) => void,
) {
  const part = partPath(path);
  const { length } = written;
  const hash = createHash("sha256");
  try {
    await using handle = await open(part, constants.O_RDONLY | noLink);
    await verifyPart(part, handle, written, (bytes) => {
      hash.update(bytes);
      take?.(bytes);
    });
    const { size } = await handle.stat();
    if (size > length) throw partDamaged(part, { from: length, to: size });
    return { bytes: length, sha256: hash.digest("hex") };
  } catch (error) {
    throw partFault(part, error);
  }
}

/**
 * Verifies what was written to a part file, up to `length`.
 *
 * @param take receives the verified bytes
 * @returns the checksum, to be continued
 */
async function verifyPart(
  part: string,
  handle: FileHandle,
  { length, checksum: before }: WrittenPosition,
  take?: (bytes: Uint8Array) => void,
): Promise<RunningChecksum> {
  if (before?.bytes !== length) throw partGone(part);
  const mustHave = (size: number): void => {
    if (size < length) throw partGone(part, `has ${size} bytes; the run wrote ${length}`);
  };
  mustHave((await handle.stat()).size);
  const checksum = new RunningChecksum(before);
  const damage = await checksum.read(handle, length, take);
  if (damage !== null) throw partDamaged(part, damage);
  mustHave(checksum.bytes);
  return checksum;
}

function partDamaged(part: string, { from, to }: Damage): FatalError {
  const message = `${part} is damaged between byte ${from} and byte ${to}`;
  return new FatalError("output_part_damaged", message, { hint: writeAgain });
}

/** The error for a part file that is missing, too short or not the run's. */
function partGone(part: string, what = "is not the file that the run wrote"): FatalError {
  return new FatalError("output_part_gone", `${part} ${what}`, { hint: writeAgain });
}

/** Explains why a part file cannot be read. */
export function partFault(part: string, error: unknown): FatalError {
  if (error instanceof FatalError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return partGone(part, "is gone");
  return code === "ELOOP" ? partGone(part, "is a symbolic link now") : outputFault(part, error);
}

/** Whether a file of rows is lost or damaged, so that they have to be written again. */
export function isPartLost(error: unknown): error is FatalError {
  return error instanceof FatalError && lostParts.has(error.code);
}

const lostParts: ReadonlySet<string> = new Set([
  "output_gone",
  "output_part_gone",
  "output_part_damaged",
]);

/** Checks that a file can be created. @throws FatalError `output_*` */
export async function checkWritable(path: string): Promise<void> {
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
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

/** Writes and closes a destination. */
export async function writeAll(
  destination: Destination,
  write: (destination: Destination) => Promise<void>,
): Promise<void> {
  try {
    await write(destination);
    await destination.close();
  } catch (error) {
    await destination.abandon();
    throw error;
  }
}

/** Writes a whole part file. @returns what is on disk, once it is known to be what was written */
export async function writePart(path: string, write: (destination: Destination) => Promise<void>) {
  const destination = await openFileDestination(path, null);
  await writeAll(destination, write);
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

/** How often to look for the reader of a named pipe, in milliseconds. */
const lookMs = 50;

/**
 * Opens a device or a named pipe.
 *
 * @param signal aborts waiting for the reader of a pipe
 * @throws FatalError `output_*`
 */
export async function openDevice(path: string, signal?: AbortSignal): Promise<Destination> {
  // To open a pipe as a file is to block a thread until it has a reader.
  while (statSync(path, { throwIfNoEntry: false })?.isFIFO() === true) {
    try {
      const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      return streamDestination(new Socket({ fd, readable: false, writable: true }), path, true);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENXIO") throw outputFault(path, error);
    }
    await systemClock.sleep(lookMs, signal);
  }
  const stream = createWriteStream(path);
  await once(stream, "open").catch((error: unknown) => {
    throw outputFault(path, error);
  });
  return streamDestination(stream, path, true);
}

/**
 * A stream such as stdout. Each write waits until the stream has accepted the bytes.
 *
 * @param isOwn whether it ends with the rows
 */
export function streamDestination(stream: Writable, name: string, isOwn = false): Destination {
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
    checksum: () => undefined,
    write,
    sync: () => Promise.resolve(),
    async close() {
      if (fault !== null) throw explain(fault);
      if (stream.writableNeedDrain) await once(stream, "drain");
      if (isOwn) await new Promise<void>((resolve) => void stream.end(resolve));
      stream.off("error", onError);
    },
    async abandon() {
      if (isOwn) stream.destroy();
    },
  };
}
