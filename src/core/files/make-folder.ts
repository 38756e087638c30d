import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Makes a folder, and those above it that are missing; one that is there stays as it is.
 *
 * Node.js's own `recursive` tries for ever where a folder that exists takes no entry: a working
 * folder that was removed, and /proc.
 *
 * @param mode of the folders that are made. Default: what the process's mask leaves of 0o777.
 * @throws what the system says
 */
export function makeFolder(path: string, mode = 0o777): void {
  const above = dirname(path);
  // A relative path of one part has the working folder above it, and no need to ask for it.
  if (above !== path && above !== "." && !existsSync(above)) makeFolder(above, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EEXIST" || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
