import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { temporaryFolder } from "../../../core/resource-stack.js";
import type { Output } from "../output.js";
import {
  type Destination,
  openDevice,
  removePart,
  renamePart,
  writeAll,
  writePart,
} from "../part-file.js";

interface WriteLinesOptions {
  readonly signal?: AbortSignal | undefined;
  /** Writes to stdout. */
  readonly print?: (text: string) => Promise<void>;
}

/**
 * Writes lines to stdout (`-`), or to a file or object, which appears under its name once it is
 * complete.
 *
 * @throws FatalError `output_*`, `object_*`; the signal's reason
 */
export async function writeLines(
  { isStdout, file, object }: Output,
  lines: Iterable<string>,
  { signal, print }: WriteLinesOptions = {},
): Promise<void> {
  if (isStdout) for (const block of inBlocks(lines)) await print?.(block);
  else if (file === null) throw new TypeError("not a text file");
  else if (object === null) await writeFile(file, lines, signal);
  else {
    const { writeObject } = await import("../../s3/objects.js");
    await using folder = await temporaryFolder();
    const path = join(folder.path, basename(object.address));
    await writeFile(path, lines, signal);
    await writeObject(object.address, path, { signal });
  }
}

async function writeFile(
  path: string,
  lines: Iterable<string>,
  signal?: AbortSignal,
): Promise<void> {
  const stats = await stat(path).catch(() => null);
  const write = async (file: Destination): Promise<void> => {
    for (const block of inBlocks(lines)) {
      signal?.throwIfAborted();
      await file.write(Buffer.from(block));
    }
  };
  // Write into a pipe or device; a rename would replace it.
  if (stats?.isFIFO() === true || stats?.isCharacterDevice() === true) {
    return writeAll(await openDevice(path, signal), write);
  }
  try {
    await writePart(path, write);
    await renamePart(path);
  } catch (error) {
    await removePart(path);
    throw error;
  }
}

/** Size of a block in UTF-16 units. */
const blockLength = 64 * 1024;

/** Joins lines into blocks: one write costs as much as generating many lines. */
export function* inBlocks(lines: Iterable<string>): Generator<string> {
  let pending = "";
  for (const line of lines) {
    pending += line;
    if (pending.length < blockLength) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}
