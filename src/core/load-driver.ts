import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { UsageError } from "./errors.js";
import { packagePath } from "./program.js";
import { shellWord } from "./wording/quantity.js";

/**
 * Loads an optional dependency on demand.
 * @param name the package, for messages
 * @param what needs it
 * @throws UsageError `driver_missing` if it isn't installed, `driver_unusable` if it doesn't run on
 *   this machine
 */
export async function loadDriver<T>(
  name: string,
  load: () => Promise<T>,
  what = "this",
): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const text = error instanceof Error ? error.message : String(error);
    if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") {
      const family = families.find((names) => names.includes(name)) ?? [name];
      throw new UsageError("driver_missing", `${what} needs the package ${name}`, {
        cause: error,
        hint: `install it with: ${installCommand(family.join(" "))}`,
      });
    }
    throw new UsageError("driver_unusable", `the package ${name} cannot be loaded: ${text}`, {
      cause: error,
      hint: `reinstall it with: ${installCommand(name)}`,
    });
  }
}

const families = [
  ["pg", "pg-copy-streams"],
  ["hyparquet-writer", "hyparquet"],
  ["bullmq", "ioredis"],
  ["saxes", "yauzl"],
  ["@aws-sdk/client-s3", "@aws-sdk/lib-storage"],
];

/** In an archive with Node.js: the archive with the optional packages. */
function driversArchive(root: string): string | undefined {
  const path = join(root, "package.json");
  if (!existsSync(path)) return undefined;
  const manifest = JSON.parse(readFileSync(path, "utf8")) as { readonly driversArchive?: string };
  return manifest.driversArchive;
}

/**
 * The command that installs packages where Node.js looks for them: in the `node_modules` folder that
 * holds this package, or in that of a checkout or an unpacked archive. Names the place unless npm
 * chooses it anyway.
 *
 * @param root folder of this package, without symbolic links
 */
export function installCommand(
  packages: string,
  cwd = process.cwd(),
  root = resolve(packagePath(".")),
): string {
  const archive = driversArchive(root);
  if (archive !== undefined)
    return `tar -xzf ${archive} --strip-components=1 -C ${shellWord(root)}`;
  const place = placeOf(root);
  if (place === root || !isGlobal(place)) {
    // In a checkout, the drivers are dev dependencies, which npm omits under NODE_ENV=production.
    const dev = place === root ? " --include=dev" : "";
    return `npm install ${packages}${dev}${place === cwd ? "" : ` --prefix ${shellWord(place)}`}`;
  }
  const prefix = process.platform === "win32" ? place : dirname(place);
  const isDefault = prefix === dirname(dirname(process.execPath));
  return `npm install -g ${packages}${isDefault ? "" : ` --prefix ${shellWord(prefix)}`}`;
}

/** The folder whose `node_modules` holds this package, or that of a checkout or an archive. */
function placeOf(root: string): string {
  return root.split(`${sep}node_modules${sep}`)[0] ?? root;
}

/** Unlike that of a project, npm's global folder has no package.json; except on Windows, it is `lib`. */
function isGlobal(place: string): boolean {
  const canBe = process.platform === "win32" || basename(place) === "lib";
  return canBe && !existsSync(join(place, "package.json"));
}
