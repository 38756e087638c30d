// @ts-check
// Packs what `npm run build` has made: repute with Node.js, and the optional packages. For machines like this
// one, or with --platform for others, for which npm's registry has Node.js and the native packages.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, copyFile, cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs, promisify } from "node:util";
import { pack } from "./archive.mjs";
import { installedWith, readManifest } from "./installed.mjs";
import { writeLicenses } from "./licenses.mjs";
import { fetchPlatform, thisPlatform } from "./platform.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const manifest = await readManifest(root);

/** Packages that only compilers read. */
const unneeded = new Set(["node-addon-api"]);

/** @typedef {import("./platform.mjs").Platform} Platform */

/** @type {Readonly<Record<string, (folder: string, platform: Platform) => Promise<void>>>} */
const archives = { repute: layOutProgram, "repute-drivers": layOutDrivers };

const { values } = parseArgs({
  options: {
    platform: { type: "string" },
    out: { type: "string", default: join(root, "dist/packages") },
    only: { type: "string", multiple: true, default: Object.keys(archives) },
  },
});
const out = resolve(values.out);
await mkdir(out, { recursive: true });
const fetched = await mkdtemp(join(out, ".fetched-"));
try {
  const platform =
    values.platform === undefined
      ? thisPlatform(root)
      : await fetchPlatform(values.platform, root, fetched);
  await packAll(platform);
} finally {
  await rm(fetched, { recursive: true, force: true });
}

/** @param {Platform} platform */
async function packAll(platform) {
  /** @type {string[]} */
  const sums = [];
  for (const name of values.only) {
    const layOut = archives[name];
    if (layOut === undefined) throw new Error(`--only: one of ${Object.keys(archives).join(", ")}`);
    const file = archiveName(name, platform);
    const parent = await mkdtemp(join(out, ".laying-out-"));
    try {
      // Both archives unpack into one folder, where Node.js finds the packages of the second.
      const folder = `repute-${manifest.version}-${platform.name}`;
      await layOut(join(parent, folder), platform);
      sums.push(`${await pack(parent, folder, join(out, file))}  ${file}\n`);
    } finally {
      await rm(parent, { recursive: true, force: true });
    }
    process.stdout.write(`${join(relative(process.cwd(), out), file)}\n`);
  }
  await writeFile(join(out, "SHA256SUMS"), sums.join(""));
}

/**
 * @param {string} name
 * @param {Platform} platform
 */
function archiveName(name, platform) {
  return `${name}-${manifest.version}-${platform.name}.tar.gz`;
}

/** @param {Platform} platform */
function ownPackages({ modules }) {
  return installedWith(["@photostructure/sqlite"], modules, isNeeded);
}

/** @param {string} name */
function isNeeded(name) {
  return !unneeded.has(name);
}

/**
 * @param {string} folder
 * @param {Platform} platform
 */
async function layOutProgram(folder, platform) {
  for (const path of ["dist/program", "samples", "docs", "README.md", "LICENSE"]) {
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  const { name, version, description, license, type, engines, peerDependencies } = manifest;
  const driversArchive = archiveName("repute-drivers", platform);
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
  const isWindows = platform.name.startsWith("win32");
  const [launcher, node] = isWindows ? ["repute.cmd", "node.exe"] : ["repute", "node"];
  await put(new URL(launcher, import.meta.url), join(folder, "bin", launcher));
  await put(platform.node, join(folder, "libexec", node));
  await chmod(join(folder, "libexec", node), 0o755);
  for (const [shell, path] of Object.entries({
    bash: "bash-completion/completions/repute",
    zsh: "zsh/site-functions/_repute",
    fish: "fish/vendor_completions.d/repute.fish",
  })) {
    await mkdir(dirname(join(folder, "share", path)), { recursive: true });
    await writeFile(join(folder, "share", path), await completion(shell));
  }
  await copyPackages(await ownPackages(platform), folder, platform);
  await cp(join(root, "dist/licenses"), join(folder, "licenses"), { recursive: true });
  await put(platform.license, join(folder, `licenses/node-${platform.version}.txt`));
  await put(new URL("licenses/sqlite.txt", import.meta.url), join(folder, "licenses/sqlite.txt"));
}

/**
 * @param {string} folder
 * @param {Platform} platform
 */
async function layOutDrivers(folder, platform) {
  const own = await ownPackages(platform);
  const all = await installedWith(
    Object.keys(manifest.peerDependencies),
    platform.modules,
    isNeeded,
  );
  await copyPackages(
    all.filter((place) => !own.includes(place)),
    folder,
    platform,
  );
}

/**
 * @param {readonly string[]} packages
 * @param {string} folder
 * @param {Platform} platform
 */
async function copyPackages(packages, folder, platform) {
  for (const place of packages) {
    await cp(place, join(folder, relative(platform.modules, place)), {
      recursive: true,
      filter: (path) => isForProduction(place, relative(place, path), platform.name),
    });
  }
  await writeLicenses(packages, join(folder, "licenses"));
}

/**
 * Leaves out what only compilers, bundlers and other platforms read.
 *
 * @param {string} place folder of a package
 * @param {string} path in that folder
 * @param {string} platform such as `linux-x64-musl`
 */
function isForProduction(place, path, platform) {
  if (path === "src" && existsSync(join(place, "binding.gyp"))) return false;
  if (/^(node_modules|dist-types|tests?|scripts)$/.test(path)) return false;
  const [system = "", processor = "", ownLibrary = "glibc"] = platform.split("-");
  const [, builtFor, library] = /^prebuilds\/([^/]+)(?:\/.*\.(glibc|musl)\.node)?/.exec(path) ?? [];
  if (builtFor !== undefined && builtFor !== `${system}-${processor}`) return false;
  if (library !== undefined && system === "linux" && library !== ownLibrary) return false;
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
