import { open, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { FatalError } from "../core/errors.js";
import { syncFolder } from "../core/sync-folder.js";
import { outputFault } from "./output-fault.js";
import type { Destination } from "./types.js";

/** Name under which an output grows until it is whole. */
export function partPath(path: string): string {
  return `${path}.part`;
}

/**
 * A file that grows as `PATH.part` and appears as `PATH` by rename when it is whole, so that a
 * reader never sees half of it.
 *
 * @param resumeAt length to cut an existing part back to and go on from; null starts anew
 * @throws FatalError `output_*` when the file cannot be written, `output_part_gone` when what is to be
 * gone on from is not there
 */
export async function openFileDestination(
  path: string,
  resumeAt: number | null,
): Promise<Destination> {
  const part = partPath(path);
  let handle: FileHandle;
  try {
    // Of nothing nothing was kept: an empty part goes when a run is abandoned.
    handle = await open(part, resumeAt === null || resumeAt === 0 ? "w" : "r+", 0o666);
  } catch (error) {
    if (resumeAt !== null && (error as NodeJS.ErrnoException).code === "ENOENT")
      throw partGone(part);
    throw outputFault(part, error);
  }
  try {
    if (resumeAt !== null && (await handle.stat()).size < resumeAt) throw partGone(part);
    if (resumeAt !== null) await handle.truncate(resumeAt);
  } catch (error) {
    await handle.close();
    throw error instanceof FatalError ? error : outputFault(part, error);
  }
  return new FileDestination(path, handle, resumeAt ?? 0);
}

/** What a run wrote before it was interrupted is not there any more. */
export function partGone(part: string): FatalError {
  return new FatalError("output_part_gone", `${part} is not what the interrupted run left`, {
    hint: "start anew with --restart",
  });
}

class FileDestination implements Destination {
  readonly path: string;
  readonly #handle: FileHandle;
  #length: number;

  constructor(path: string, handle: FileHandle, length: number) {
    this.path = path;
    this.#handle = handle;
    this.#length = length;
  }

  get length(): number {
    return this.#length;
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
