import { existsSync, mkdirSync, statSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, resolve, isAbsolute, join } from "node:path";
import { open } from "node:fs/promises";

/** Files and folders that only their owner may read. */
export const privateFile = { mode: 0o600 } as const;
export const privateFolder = { mode: 0o700 } as const;

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

/** Maximum number of symbolic links followed in a row, as on Linux. */
const mostLinks = 40;

/**
 * Resolves symbolic links. A missing file keeps its path; a link to a missing file stands for that
 * file, as it does for programs that open it for writing.
 */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // Some files have no path: the pipe behind /dev/stdout.
    return existsSync(path) ? resolve(path) : missingFile(path);
  }
}

function missingFile(path: string): string {
  let file = resolve(path);
  for (let links = 0; links < mostLinks; links++) {
    const folder = dirname(file);
    let target: string;
    try {
      target = readlinkSync(file);
    } catch {
      return file;
    }
    file = resolve(existsSync(folder) ? realpathSync(folder) : folder, target);
  }
  return resolve(path);
}

/**
 * Folder for state that outlives a run: `$XDG_STATE_HOME/repute`, by default `~/.local/state/repute`. Null if
 * neither XDG_STATE_HOME nor the home folder is set.
 */
export const userStateFolder = xdgFolder("XDG_STATE_HOME", ".local/state");

/** Folder of the user's config file: `$XDG_CONFIG_HOME/repute`, by default `~/.config/repute`. */
export const userConfigFolder = xdgFolder("XDG_CONFIG_HOME", ".config");

/** The XDG Base Directory Specification says to ignore a relative path. */
function xdgFolder(variable: string, belowHome: string) {
  return (env: Readonly<Record<string, string | undefined>>): string | null => {
    const base = env[variable] ?? "";
    if (isAbsolute(base)) return join(base, "repute");
    const home = env[process.platform === "win32" ? "USERPROFILE" : "HOME"] ?? "";
    return home === "" ? null : join(home, belowHome, "repute");
  };
}
