import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { realPath } from "../../../core/files/real-path.js";
import { isObjectAddress, parseObjectAddress } from "../../../io/object/address.js";
import { openFileDestination } from "../../../io/output/file-destination.js";
import { removePart } from "../../../io/output/part-file.js";
import { checkFolder, filesOf, keepInputs } from "../../../io/output/check-paths.js";
import type { CliContext } from "../../terminal/cli-context.js";
import { writeOut } from "../../terminal/data-output.js";

/**
 * Checks before the inputs are read that the output can be written, and replaces none of them.
 *
 * @throws UsageError `output_is_input`, `output_folder_missing`, `bad_object_address`
 */
export async function checkOutput(output: string, inputs: readonly string[]): Promise<void> {
  if (isObjectAddress(output)) {
    parseObjectAddress(output);
    return keepInputs(output, filesOf(realPath(output)), inputs);
  }
  const file = realPath(output);
  await checkFolder(file);
  keepInputs(output, filesOf(file), inputs);
}

/** UTF-16 units of text written at a time. */
const writtenAtOnce = 64 * 1024;

/**
 * Writes lines to stdout (`-`), or to a file or object, which appears under its name once it is
 * complete.
 *
 * @throws FatalError `output_*`, `object_*`; the signal's reason
 */
export async function writeLines(
  path: string,
  lines: Iterable<string>,
  context: Pick<CliContext, "stdout" | "signal">,
): Promise<void> {
  const { signal } = context;
  if (path === "-") {
    for (const block of joined(lines)) await writeOut(context, block);
    return;
  }
  if (!isObjectAddress(path)) return writeFile(realPath(path), lines, signal);
  if (/\.html$/i.test(path)) {
    const { putPage } = await import("../../../io/object/put-object.js");
    return putPage(path, [...lines].join(""));
  }
  const folder = await mkdtemp(join(tmpdir(), "repute-"));
  try {
    const copy = join(folder, basename(path));
    await writeFile(copy, lines, signal);
    const { uploadObject } = await import("../../../io/object/upload-object.js");
    const journal = join(folder, "upload.json");
    await uploadObject({ path: copy, address: path, journal, signal });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function writeFile(
  path: string,
  lines: Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const file = await openFileDestination(path, null);
  try {
    for (const block of joined(lines)) {
      signal.throwIfAborted();
      await file.write(Buffer.from(block));
    }
    await file.finish();
  } catch (error) {
    await file.abandon();
    await removePart(path);
    throw error;
  }
}

/** Joins lines into blocks: a write costs as much as making many lines. */
function* joined(lines: Iterable<string>): Generator<string> {
  let pending = "";
  for (const line of lines) {
    pending += line;
    if (pending.length < writtenAtOnce) continue;
    yield pending;
    pending = "";
  }
  yield pending;
}
