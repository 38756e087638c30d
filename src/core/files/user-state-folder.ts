import { isAbsolute, join } from "node:path";

/**
 * Folder for what outlives a run: `$XDG_STATE_HOME/repute`, by default `~/.local/state/repute`
 * (XDG Base Directory Specification, which says to ignore a relative path).
 *
 * @returns null when neither XDG_STATE_HOME nor the home folder is set
 */
export function userStateFolder(
  env: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const { XDG_STATE_HOME: stateHome = "" } = env;
  if (isAbsolute(stateHome)) return join(stateHome, "repute");
  const home = env[platform === "win32" ? "USERPROFILE" : "HOME"] ?? "";
  return home === "" ? null : join(home, ".local", "state", "repute");
}
