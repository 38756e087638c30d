// @ts-check
// Packs what `npm run build` has made, for machines like this one: repute with Node.js, and the optional packages.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { pack } from "./archive.mjs";
import { installedWith, readManifest } from "./installed.mjs";
import { writeLicenses } from "./licenses.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = await readManifest(root);

/** Packages that only compilers read. */
const unneeded = new Set(["node-addon-api"]);
const ownPackages = await installedWith(["@photostructure/sqlite"], root, isNeeded);

/** @type {Readonly<Record<string, (folder: string) => Promise<void>>>} */
const archives = { repute: layOutProgram, "repute-drivers": layOutDrivers };

const { values } = parseArgs({
  options: {
    out: { type: "string", default: join(root, "dist/packages") },
    only: { type: "string", multiple: true, default: Object.keys(archives) },
  },
});
const out = resolve(values.out);
await mkdir(out, { recursive: true });
/** @type {string[]} */
const sums = [];
for (const name of values.only) {
  const layOut = archives[name];
  if (layOut === undefined) throw new Error(`--only: one of ${Object.keys(archives).join(", ")}`);
  const file = archiveName(name);
  const parent = await mkdtemp(join(out, ".laying-out-"));
  try {
    // Both archives unpack into one folder, where Node.js finds the packages of the second.
    const folder = `repute-${manifest.version}-${platform()}`;
    await layOut(join(parent, folder));
    sums.push(`${await pack(parent, folder, join(out, file))}  ${file}\n`);
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
  process.stdout.write(`${join(relative(process.cwd(), out), file)}\n`);
}
await writeFile(join(out, "SHA256SUMS"), sums.join(""));

/** @param {string} name */
function archiveName(name) {
  return `${name}-${manifest.version}-${platform()}.tar.gz`;
}

/** The platform in names of archives. Native packages differ between the C libraries of Linux. */
function platform() {
  return `${process.platform}-${process.arch}${cLibrary() === "musl" ? "-musl" : ""}`;
}

function cLibrary() {
  const { header } = /** @type {any} */ (process.report.getReport());
  return process.platform === "linux" && header.glibcVersionRuntime === undefined
    ? "musl"
    : "glibc";
}

/** @param {string} name */
function isNeeded(name) {
  return !unneeded.has(name);
}

/** @param {string} folder */
async function layOutProgram(folder) {
  for (const path of ["dist/program", "samples", "docs", "README.md", "LICENSE"]) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  const { name, version, description, license, type, engines, peerDependencies } = manifest;
  const driversArchive = archiveName("repute-drivers");
  const kept = {
    name,
    version,
    description,
    license,
    type,
    engines,
    peerDependencies,
    driversArchive,
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(kept, null, 2)}\n`);
  await put(new URL("repute", import.meta.url), join(folder, "bin/repute"));
  await put(process.execPath, join(folder, "libexec/node"));
  await chmod(join(folder, "libexec/node"), 0o755);
  for (const [shell, path] of Object.entries({
    bash: "bash-completion/completions/repute",
    zsh: "zsh/site-functions/_repute",
    fish: "fish/vendor_completions.d/repute.fish",
  })) {
    await mkdir(dirname(join(folder, "share", path)), { recursive: true });
    await writeFile(join(folder, "share", path), await completion(shell));
  }
  await copyPackages(ownPackages, folder);
  await cp(join(root, "dist/licenses"), join(folder, "licenses"), { recursive: true });
  await put(nodeLicense(), join(folder, `licenses/node-${process.versions.node}.txt`));
  await put(new URL("licenses/sqlite.txt", import.meta.url), join(folder, "licenses/sqlite.txt"));
}

/** @param {string} folder */
async function layOutDrivers(folder) {
  const all = await installedWith(Object.keys(manifest.peerDependencies), root, isNeeded);
  await copyPackages(
    all.filter((place) => !ownPackages.includes(place)),
    folder,
  );
}

/**
 * @param {readonly string[]} packages
 * @param {string} folder
 */
async function copyPackages(packages, folder) {
  for (const place of packages) {
    await cp(place, join(folder, relative(root, place)), {
      recursive: true,
      filter: (path) => isForProduction(place, relative(place, path)),
    });
  }
  await writeLicenses(packages, join(folder, "licenses"));
}

/**
 * Leaves out what only compilers, bundlers and other platforms read.
 * @param {string} place folder of a package
 * @param {string} path in that folder
 */
function isForProduction(place, path) {
  if (path === "src" && existsSync(join(place, "binding.gyp"))) return false;
  if (/^(node_modules|dist-types|tests?|scripts)$/.test(path)) return false;
  const [, builtFor, library] = /^prebuilds\/([^/]+)(?:\/.*\.(glibc|musl)\.node)?/.exec(path) ?? [];
  if (builtFor !== undefined && builtFor !== `${process.platform}-${process.arch}`) return false;
  if (library !== undefined && process.platform === "linux" && library !== cLibrary()) return false;
  if (/^(readme|changelog|history|security)/i.test(basename(path))) return false;
  return ![".map", ".ts", ".mts", ".cts", ".gyp"].includes(extname(path));
}

/**
 * @param {string | URL} from
 * @param {string} to
 */
async function put(from, to) {
  await mkdir(dirname(to), { recursive: true });
  await copyFile(from, to);
}

/** @param {string} shell */
async function completion(shell) {
  const program = join(root, "dist/program/repute.js");
  const { stdout } = await promisify(execFile)(process.execPath, [program, "completion", shell]);
  return stdout;
}

/** The licence of this Node.js, from where its archive, Debian's package or npm's package has put it. */
function nodeLicense() {
  const prefix = dirname(dirname(process.execPath));
  const places = ["LICENSE", "share/doc/nodejs/LICENSE", "share/doc/nodejs/copyright"];
  const candidates = [process.env["NODE_LICENSE"], ...places.map((path) => join(prefix, path))];
  const found = candidates.find((path) => path !== undefined && existsSync(path));
  if (found !== undefined) return found;
  throw new Error(`no licence of Node.js in ${prefix}: name the file in NODE_LICENSE`);
}
