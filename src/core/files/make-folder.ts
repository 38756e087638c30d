import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { open } from "node:fs/promises";

/**
 * Creates a folder and its missing parents; an existing folder is left alone.
 *
 * Node.js's own `recursive` loops forever under a folder that accepts no entries: a working folder
 * that was removed, or /proc.
 *
 * @param mode of created folders, before the umask
 * @throws the system's error
 */
export function makeFolder(path: string, mode = 0o777): void {
  const above = dirname(path);
  // The parent of a relative single-part path is the working folder, which needs no check.
  if (above !== path && above !== "." && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" || !isFolder(path)) throw error;
  }
}

/** False also for a path that cannot be looked up. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Makes a folder's entries durable (new files, renames). File systems that refuse are ignored: they
 * offer nothing better.
 */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, "r").catch(() => null);
  if (handle === null) return;
  await handle.sync().catch(() => undefined);
  await handle.close();
}
