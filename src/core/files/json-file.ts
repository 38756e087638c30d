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
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, isPrivate ? 0o600 : 0o644);
}

async function replaceFile(path: string, text: string, rights: number): Promise<void> {
  const fresh = `${path}.new`;
  const handle = await open(fresh, "w", rights);
  try {
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
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
