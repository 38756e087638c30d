// @ts-check
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Packages and all that they need when they run, as Node.js finds them.
 * @param {readonly string[]} names
 * @param {string} root folder with node_modules
 * @param {(name: string) => boolean} isWanted
 * @returns {Promise<readonly string[]>} their folders
 */
export async function installedWith(names, root, isWanted = () => true) {
  /** @type {Set<string>} */
  const found = new Set();
  /** @param {string} name @param {string} from @param {boolean} isOptional */
  const add = async (name, from, isOptional) => {
    const place = findPackage(name, from);
    if (place === null && !isOptional) throw new Error(`${name} is not installed: npm ci`);
    if (place === null || found.has(place) || !isWanted(name)) return;
    found.add(place);
    const { dependencies, optionalDependencies, peerDependencies } = await readManifest(place);
    // npm repeats the optional ones among the dependencies.
    const optional = { ...peerDependencies, ...optionalDependencies };
    for (const next of Object.keys({ ...dependencies, ...optional })) {
      await add(next, place, next in optional);
    }
  };
  for (const name of names) await add(name, root, false);
  return [...found].sort();
}

/**
 * @param {string} name
 * @param {string} from
 * @returns {string | null}
 */
function findPackage(name, from) {
  const place = join(from, "node_modules", name);
  if (existsSync(join(place, "package.json"))) return place;
  return dirname(from) === from ? null : findPackage(name, dirname(from));
}

/** @param {string} place folder of a package */
export async function readManifest(place) {
  return JSON.parse(await readFile(join(place, "package.json"), "utf8"));
}
