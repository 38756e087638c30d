import { open, readFile, rename, rm } from "node:fs/promises";
import { faultReason } from "./system-fault.js";

/**
 * Writes JSON atomically: after a crash or power cut, readers find the old or the new file.
 *
 * @param isPrivate whether only its owner may read it
 */
export async function writeJsonFile(
  path: string,
  value: unknown,
  isPrivate = false,
): Promise<void> {
  const fresh = `${path}.new`;
  try {
    {
      await using file = await open(fresh, "w", isPrivate ? 0o600 : 0o644);
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`);
      await file.sync();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Reads a JSON file; null if it doesn't exist.
 *
 * @throws SyntaxError, or the read error
 */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

export function jsonFileFault(error: unknown): string {
  return error instanceof SyntaxError ? "it is not valid JSON" : faultReason(error);
}
