import { constants } from "node:fs";
import { lstat, open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { FatalError } from "../core/errors.js";
import { RunningChecksum } from "../core/files/running-checksum.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import { syncFolder } from "../core/files/sync-folder.js";
import { outputFault } from "./output-fault.js";
import { partGone, partIsLink, verifyPart } from "./verify-part.js";
import type { Destination, SinkPosition } from "./types.js";

/** Name under which an output grows until it is whole. */
export function partPath(path: string): string {
  return `${path}.part`;
}

/** Removes the part of an output that came to nothing; whatever else has its name stays. */
export async function removePart(path: string): Promise<void> {
  const facts = await lstat(partPath(path)).catch(() => null);
  if (facts?.isFile()) await rm(partPath(path), { force: true });
}

/** What a checkpoint says of a file. */
export type FilePosition = Pick<SinkPosition, "length" | "checksum">;

/**
 * A file that grows as `PATH.part` and appears as `PATH` by rename when it is whole, so that a
 * reader never sees half of it.
 *
 * @param resume position to cut an existing part back to, once it is verified; null starts anew
 * @throws FatalError `output_*` when the file cannot be written, `output_part_gone` or
 * `output_part_damaged` when it does not hold what the run wrote, `output_part_link` when the part
 * is a symbolic link
 */
export async function openFileDestination(
  path: string,
  resume: FilePosition | null,
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
    if (facts?.isSymbolicLink()) throw partIsLink(part);
    throw outputFault(part, error);
  }
  if (isNew) return new FileDestination(path, handle, new RunningChecksum());
  try {
    const checksum = await verifyPart(part, handle, resume);
    await handle.truncate(resume.length);
    return new FileDestination(path, handle, checksum);
  } catch (error) {
    await handle.close();
    throw error instanceof FatalError ? error : outputFault(part, error);
  }
}

/** Where links cannot be told from files (Windows), they are followed. */
const noLink = constants.O_NOFOLLOW ?? 0;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | noLink;
const existingFile = constants.O_RDWR | noLink;

class FileDestination implements Destination {
  readonly path: string;
  readonly #handle: FileHandle;
  /** Has taken the bytes that the file holds already. */
  readonly #checksum: RunningChecksum;
  #length: number;

  constructor(path: string, handle: FileHandle, checksum: RunningChecksum) {
    this.path = path;
    this.#handle = handle;
    this.#checksum = checksum;
    this.#length = checksum.bytes;
  }

  get length(): number {
    return this.#length;
  }

  checksum(): ChecksumState {
    return this.#checksum.state();
  }

  async write(bytes: Uint8Array): Promise<void> {
    let done = 0;
    try {
      while (done < bytes.length) {
        const { bytesWritten } = await this.#handle.write(bytes, done, undefined, this.#length);
        done += bytesWritten;
        this.#length += bytesWritten;
      }
    } catch (error) {
      throw outputFault(partPath(this.path), error);
    }
    this.#checksum.update(bytes);
  }

  async sync(): Promise<void> {
    try {
      await this.#handle.datasync();
    } catch (error) {
      throw outputFault(partPath(this.path), error);
    }
  }

  async finish(suffix = ""): Promise<void> {
    const path = this.path + suffix;
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(partPath(this.path), path);
      await syncFolder(dirname(path));
    } catch (error) {
      throw outputFault(path, error);
    }
  }

  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    if (this.#length === 0) await rm(partPath(this.path), { force: true });
  }
}
