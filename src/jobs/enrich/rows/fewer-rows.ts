import { stat } from "node:fs/promises";
import { abortable } from "../../../core/abort.js";
import { inputPaths, type RunInput } from "../../../io/input/types.js";
import type { Job } from "../types.js";
import { firstRows } from "./reading.js";

/**
 * Whether an input has fewer rows than this, as far as they can be counted before the run reads them.
 * Reads no further than necessary.
 *
 * @throws the signal's reason, or why the input cannot be read
 */
export async function hasFewerRows(
  least: number,
  { input, settings, signal, rows: from }: Pick<Job, "input" | "settings" | "signal" | "rows">,
): Promise<boolean> {
  // An input without rows asks for nothing anyway.
  if (least <= 1 || !(await isReadTwice(input))) return false;
  const source = await from.open(null);
  let rows = 0;
  try {
    for await (const batch of abortable(firstRows(source.rows, settings.run.limit), signal)) {
      rows += batch.length;
      if (rows >= least) return false;
    }
  } finally {
    await source.close();
  }
  return true;
}

/** Whether an input consists of regular files, which can be read more than once. */
export async function isReadTwice(input: RunInput): Promise<boolean> {
  const paths = inputPaths(input);
  if (!("path" in input) && !("inputs" in input && paths.length === input.inputs.length))
    return false;
  const files = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return files.every((file) => file?.isFile() === true);
}
