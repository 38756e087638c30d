import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import type { Output } from "../../../io/output/output.js";
import {
  openDevice,
  removePart,
  renamePart,
  writeAll,
  writePart,
} from "../../../io/output/part-file.js";
import type { Destination } from "../../../io/output/types.js";
import { checkFolder, keepInputs } from "../../../io/output/check-paths.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { writeOut } from "../../terminal/data-output.js";

/**
 * Checks, before the inputs are read, that the output can be written and is none of them.
 *
 * @throws UsageError `unknown_output`, `output_is_input`, `output_folder_missing`
 */
export async function checkOutput(output: Output, inputs: readonly string[]): Promise<void> {
  const { name, file, object, isStdout } = output;
  if (isStdout) return;
  if (file === null) {
    throw new UsageError("unknown_output", `${name} is not a text file`, {
      hint: "name a file or an s3:// object",
    });
  }
  if (object === null) await checkFolder(file);
  keepInputs(output, inputs);
}

/** Size of a block in UTF-16 units. */
const blockLength = 64 * 1024;

/**
 * Writes lines to stdout (`-`), or to a file or object, which appears under its name once it is
 * complete.
 *
 * @throws FatalError `output_*`, `object_*`; the signal's reason
 */
export async function writeLines(
  { isStdout, file, object }: Pick<Output, "isStdout" | "file" | "object">,
  lines: Iterable<string>,
  context: Pick<CliContext, "stdout" | "signal">,
): Promise<void> {
  if (!isStdout) return writeTo({ file, object }, lines, context.signal);
  for (const block of joined(lines)) await writeOut(context, block);
}

/** Writes lines to a file or object. @throws as `writeLines` */
export async function writeTo(
  { file, object }: Pick<Output, "file" | "object">,
  lines: Iterable<string>,
  signal?: AbortSignal,
): Promise<void> {
  if (file === null) throw new TypeError("not a text file");
  if (object === null) return writeFile(file, lines, signal);
  const { address } = object;
  const { writeObject } = await import("../../../io/s3/objects.js");
  if (/\.html$/i.test(address)) {
    await writeObject(address, { text: [...lines].join(""), type: "text/html; charset=utf-8" });
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  try {
    const copy = join(folder, basename(address));
    await writeFile(copy, lines, signal);
    await writeObject(address, { path: copy }, { signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFile(
  path: string,
  lines: Iterable<string>,
  signal?: AbortSignal,
): Promise<void> {
  const stats = await stat(path).catch(() => null);
  const write = async (file: Destination): Promise<void> => {
    for (const block of joined(lines)) {
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

/** Joins lines into blocks: one write costs as much as generating many lines. */
function* joined(lines: Iterable<string>): Generator<string> {
  let pending = "";
  for (const line of lines) {
    pending += line;
    if (pending.length < blockLength) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}
