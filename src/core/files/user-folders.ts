import { isAbsolute, join } from "node:path";

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
