import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { open } from "node:fs/promises";

/** Name of the file that lists the files of a data set, within their folder. */
export const dataSetManifest = "_manifest.json";

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

/**
 * Folder for state that outlives a run: `$XDG_STATE_HOME/repute`, by default `~/.local/state/repute`.
 *
 * @returns null if neither XDG_STATE_HOME nor the home folder is set
 */
export function userStateFolder(env: Environment, platform = process.platform): string | null {
  return xdgFolder(env["XDG_STATE_HOME"], [".local", "state"], env, platform);
}

/** Folder of the user's config file: `$XDG_CONFIG_HOME/repute`, by default `~/.config/repute`. */
export function userConfigFolder(env: Environment, platform = process.platform): string | null {
  return xdgFolder(env["XDG_CONFIG_HOME"], [".config"], env, platform);
}

/** Folder for caches: `$XDG_CACHE_HOME/repute`, by default `~/.cache/repute`. */
export function userCacheFolder(env: Environment, platform = process.platform): string | null {
  return xdgFolder(env["XDG_CACHE_HOME"], [".cache"], env, platform);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The XDG Base Directory Specification says to ignore a relative path. */
function xdgFolder(
  base: string | undefined,
  belowHome: readonly string[],
  env: Environment,
  platform: NodeJS.Platform,
): string | null {
  if (base !== undefined && isAbsolute(base)) return join(base, "repute");
  const home = env[platform === "win32" ? "USERPROFILE" : "HOME"] ?? "";
  return home === "" ? null : join(home, ...belowHome, "repute");
}

/** Appended to the names of a retry in a table, which must not be those of a run into it. */
export const retrySuffix = ".retry";

/**
 * Suffix for the rows of a run with too many failed lookups. The output of an earlier run stays as
 * it is.
 */
export const failedSuffix = ".failed";

/** A path without that suffix, so that its extension tells format and compression. */
export function withoutFailed(path: string): string {
  return path.endsWith(failedSuffix) ? path.slice(0, -failedSuffix.length) : path;
}
