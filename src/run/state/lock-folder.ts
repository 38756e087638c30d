import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { takeLock } from "../../core/files/run-lock.js";
import { outputFault } from "../../outputs/output-fault.js";

/**
 * Creates a state folder if it is missing, and locks it. Returns a function that releases it.
 *
 * @throws UsageError `output_locked` if a run is in progress
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  try {
    if (!existsSync(folder)) await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw outputFault(folder, error);
  }
  try {
    return await takeLock(join(folder, "lock"));
  } catch (error) {
    throw error instanceof UsageError ? error : outputFault(folder, error);
  }
}
