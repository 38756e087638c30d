// @ts-check
import { chmod, rm } from "node:fs/promises";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { defineConfig } from "rolldown";
import { writeLicenses } from "./.ci/package/licenses.mjs";
import manifest from "./package.json" with { type: "json" };

/** Native or optional packages, which have to be installed beside the program, and all that is in them. */
const external = ["@photostructure/sqlite", ...Object.keys(manifest.peerDependencies)].map(
  (name) => new RegExp(`^${name}(?:/|$)`),
);

/** Whether a module is loaded without the HTTP client and SQLite. */
function isLight(id) {
  return !/\/node_modules\/undici\/|\/http\/dispatcher\.js$|\/store\/database\.js$/.test(id);
}

/** Writes the licences of the packages whose code is in the bundle. */
async function writeBundledLicenses(_, bundle) {
  const modules = Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? []);
  const folders = modules.map((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]);
  const packages = new Set(folders.filter((folder) => folder !== undefined));
  const folder = fileURLToPath(new URL("dist/licenses", import.meta.url));
  await rm(folder, { recursive: true, force: true });
  await writeLicenses(packages, folder);
}

/** Lets `npx repute` start a program that was built anew: npm sets the mode only where it installs. */
async function makeExecutable() {
  await chmod(new URL("dist/program/repute.js", import.meta.url), 0o755);
}

/** Bundles what tsc has made of `src/` into the program; the library stays as tsc made it. */
export default defineConfig({
  input: {
    repute: "dist/cli/main.js",
    // A thread starts with a file of its own, which `start-thread.ts` expects beside itself.
    entry: "dist/client/api/thread/entry.js",
  },
  platform: "node",
  plugins: [
    { name: "licenses", writeBundle: writeBundledLicenses },
    { name: "executable", writeBundle: makeExecutable },
  ],
  external: [...external, ...builtinModules.flatMap((name) => [name, `node:${name}`])],
  // A module that most commands need is in the common file, even if some import it late.
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: "dist/program",
    cleanDir: true,
    chunkFileNames: "[name].js",
    codeSplitting: {
      groups: [
        // All that `--version` needs.
        { name: "program", test: /\/dist\/core\/program\.js$/, priority: 2 },
        // What most commands need: one file loads faster than a hundred. Without what sends the
        // requests, which most commands leave to a thread, and without SQLite, which is native.
        { name: "common", test: isLight, minShareCount: 12, priority: 1 },
      ],
    },
  },
});
