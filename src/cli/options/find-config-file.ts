import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { userConfigFolder } from "../../core/files/user-folders.js";

/** Names under which a config file is found without `--config`. */
const configFileNames = ["config.yaml", "config.yml", "config.json"];

/**
 * The user's config file, null when there is none.
 *
 * @throws UsageError when there are two
 */
export function findConfigFile(env: Readonly<Record<string, string | undefined>>): string | null {
  const folder = userConfigFolder(env);
  if (folder === null) return null;
  const [found, second] = configFileNames.map((name) => join(folder, name)).filter(existsSync);
  if (found === undefined || second === undefined) return found ?? null;
  throw new UsageError("two_configs", `there are two config files, ${found} and ${second}`, {
    hint: "remove one, or name one with --config FILE",
  });
}

/** Whether a file beside the config file would be found like it. */
export function isFoundBeside(path: string, found: string): boolean {
  return dirname(path) === dirname(found) && configFileNames.includes(basename(path));
}
