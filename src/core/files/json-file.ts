import { open, readFile, rename } from "node:fs/promises";

/** Writes JSON so that a reader finds the old file or the new one, also after a power cut. */
export async function writeJsonFile(path: string, value: unknown, mode = 0o644): Promise<void> {
  await replaceFile(path, `${JSON.stringify(value, null, 2)}\n`, mode);
}

/** Writes a file so that a reader finds the old text or the new one, also after a power cut. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const fresh = `${path}.new`;
  const handle = await open(fresh, "w", mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(fresh, path);
}

/** Reads a JSON file; null when there is none. @throws SyntaxError, or what reading fails with */
export async function readJsonFile(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as unknown;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
