import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { open } from "node:fs/promises";

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

/**
 * Makes the names in a folder durable: new files, renames. Some file systems refuse, and then they
 * are as durable as can be.
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
 * @returns null when neither XDG_STATE_HOME nor the home folder is set
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

/**
 * Ending of an output whose run had too many failed lookups: its rows are kept under this name, and
 * the output of an earlier run stays as it is.
 */
export const failedSuffix = ".failed";

/** A path without that ending: format and compression are in what precedes it. */
export function withoutFailed(path: string): string {
  return path.endsWith(failedSuffix) ? path.slice(0, -failedSuffix.length) : path;
}
