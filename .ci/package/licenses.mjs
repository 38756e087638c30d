// @ts-check
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readManifest } from "./installed.mjs";

const licenseFile = /^(licen[cs]e|copying)/i;
const noticeFile = /^(notice|copyright)/i;

/**
 * Writes the licence text of each package into a folder, as `NAME-VERSION.txt`.
 * @param {Iterable<string>} packages folders of installed packages
 * @param {string} folder
 */
export async function writeLicenses(packages, folder) {
  await mkdir(folder, { recursive: true });
  for (const place of packages) {
    const { name, version, license } = await readManifest(place);
    const file = join(folder, `${name.replace("/", "+")}-${version}.txt`);
    await writeFile(file, `${name} ${version} (${license})\n\n${await licenseText(place)}\n`);
  }
}

/** @param {string} place folder of an installed package */
async function licenseText(place) {
  const texts = [
    (await textOfFiles(place, licenseFile)) ??
      (await textFromReadme(place)) ??
      (await textOfSibling(place)) ??
      (await standardText(place)),
    await textOfFiles(place, noticeFile),
  ];
  return texts.filter((text) => text !== null).join("\n\n");
}

/**
 * @param {string} place
 * @param {RegExp} pattern
 */
async function textOfFiles(place, pattern) {
  const names = (await readdir(place)).filter((name) => pattern.test(name)).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(place, name), "utf8")));
  return texts.length === 0 ? null : texts.map((text) => text.trim()).join("\n\n");
}

/**
 * Some packages have their licence only at the end of their README.
 * @param {string} place
 */
async function textFromReadme(place) {
  const path = join(place, "README.md");
  if (!existsSync(path)) return null;
  const [, text] = (await readFile(path, "utf8")).split(/^#+ licen[cs]e\s*$/im);
  return text?.includes("Permission is hereby granted") ? text.trim() : null;
}

/**
 * A package of a monorepo may lack the licence that its neighbours have.
 * @param {string} place
 */
async function textOfSibling(place) {
  const own = await readManifest(place);
  if (own.repository === undefined) return null;
  const scope = dirname(place);
  const roots = own.name.includes("/") ? [scope, dirname(scope)] : [scope];
  for (const root of roots) {
    for (const name of (await readdir(root)).sort()) {
      const sibling = join(root, name);
      if (!existsSync(join(sibling, "package.json"))) continue;
      const { license, repository } = await readManifest(sibling);
      if (license !== own.license || addressOf(repository) !== addressOf(own.repository)) continue;
      const text = await textOfFiles(sibling, licenseFile);
      if (text !== null) return text;
    }
  }
  return null;
}

/** @param {any} repository */
function addressOf(repository) {
  const address = typeof repository === "string" ? repository : repository?.url;
  return address?.replace(/^git\+|^git:|^https?:|^ssh:|\.git$/g, "").replaceAll("http://", "//");
}

/**
 * The standard text of a licence that a package only names.
 * @param {string} place
 */
async function standardText(place) {
  const { name, license, author } = await readManifest(place);
  const file = new URL(`licenses/${license}.txt`, import.meta.url);
  if (author === undefined || !existsSync(file)) {
    throw new Error(
      `no licence text for the package ${name}: add ${license}.txt to .ci/package/licenses`,
    );
  }
  const holder = typeof author === "string" ? author : author.name;
  const notice = "The package names this licence without its text.";
  return `${notice}\n\nCopyright (c) ${holder}\n\n${(await readFile(file, "utf8")).trim()}`;
}
