import { execFile, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { type OutputOptions, rolldown, type RolldownOptions } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packagePath, programInfo } from "../../src/core/program.js";
import { ended } from "../helpers/shell.js";

const run = promisify(execFile);
const { version } = programInfo();
const platform = `${process.platform}-${process.arch}`;
const drivers = `repute-drivers-${version}-${platform}.tar.gz`;

let base: string;
/** Where the archives are, where they were built a second time, and where the first one is unpacked. */
let packages: string;
let again: string;
let home: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "repute-test-"));
  packages = join(base, "packages");
  again = join(base, "again");
  const elsewhere = { TZ: "Asia/Kolkata", LC_ALL: "C", HOME: base };
  await Promise.all([build(packages), build(again, "077", elsewhere)]);
  const place = join(base, "opt with spaces");
  await mkdir(place);
  await run("tar", ["-xzf", join(packages, `repute-${version}-${platform}.tar.gz`), "-C", place]);
  home = join(place, `repute-${version}-${platform}`);
  await writeFile(join(base, "in.csv"), "ip\n192.0.2.1\n");
  // All that the launcher may need from the machine.
  await mkdir(join(base, "path"));
  const { stdout } = await run("sh", ["-c", "command -v readlink"]);
  await symlink(stdout.trim(), join(base, "path/readlink"));
});

afterAll(() => rm(base, { recursive: true, force: true }));

/** Builds the archives with the file mode mask of a shell. */
async function build(out: string, umask = "022", env: Readonly<Record<string, string>> = {}) {
  const script = packagePath(".ci/package/package.mjs");
  const line = `umask ${umask} && exec "$0" "$@"`;
  const args = ["-c", line, process.execPath, script, "--out", out];
  await run("sh", args, { env: { ...process.env, ...env } });
}

/** Runs a command in a folder of its own, on a machine without Node.js. */
const alone = (file: string, args: readonly string[]) =>
  ended(file, args, { cwd: base, env: { PATH: join(base, "path"), HOME: base } });

const repute = (...args: readonly string[]) => alone(join(home, "bin/repute"), args);

test("the archives are the same bytes on every build, as SHA256SUMS says", async () => {
  const sums = await readFile(join(packages, "SHA256SUMS"), "utf8");
  expect(sums).toMatch(/^([0-9a-f]{64} {2}repute-\S+\.tar\.gz\n){2}$/);
  expect(await readFile(join(again, "SHA256SUMS"), "utf8")).toBe(sums);
  await run("sha256sum", ["--check", "--strict", "SHA256SUMS"], { cwd: again });
  expect((await readdir(again)).toSorted()).toEqual((await readdir(packages)).toSorted());
});

test("the program, its Node.js, pages and completions are in the archive, and nothing to build", async () => {
  const paths = await readdir(home, { recursive: true });
  expect(paths).toEqual(
    expect.arrayContaining([
      "README.md",
      "LICENSE",
      "docs/commands.md",
      "samples/indicators.csv",
      "licenses/sqlite.txt",
      `licenses/node-${process.versions.node}.txt`,
    ]),
  );
  expect(paths.filter((path) => /\.(c|cc|h|d\.[cm]?ts|map|gyp)$/.test(path))).toEqual([]);
  const binaries = paths.filter((path) => path.endsWith(".node"));
  expect(binaries).toEqual([expect.stringContaining(`/prebuilds/${platform}/`)]);
  for (const [shell, path] of [
    ["bash", "bash-completion/completions/repute"],
    ["zsh", "zsh/site-functions/_repute"],
    ["fish", "fish/vendor_completions.d/repute.fish"],
  ] as const) {
    const { stdout } = await repute("completion", shell);
    expect(stdout).toContain(`Completion of repute for ${shell}`);
    expect(await readFile(join(home, "share", path), "utf8")).toBe(stdout);
  }
});

test("every bundled package has its licence text", async () => {
  const { default: config } = (await import(packagePath("rolldown.config.mjs"))) as {
    readonly default: Omit<RolldownOptions, "output"> & { readonly output: OutputOptions };
  };
  const bundle = await rolldown({ ...config, cwd: packagePath(".") });
  const { output } = await bundle.generate({ ...config.output, sourcemap: true, cleanDir: false });
  await bundle.close();
  const sources = output.flatMap((file) =>
    file.type === "chunk" ? (file.map?.sources ?? []) : [],
  );
  const bundled = sources.flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(path)?.[1] ?? [],
  );
  const names = new Set(bundled);
  expect([...names]).toEqual(expect.arrayContaining(["yargs", "@noble/hashes", "undici", "zod"]));
  await expectLicenses(names);
});

/** The names of the packages in node_modules. */
async function installed(): Promise<readonly string[]> {
  const names = await readdir(join(home, "node_modules"), { recursive: true });
  const packages = names.filter((name) =>
    /^(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/@]+$/.test(name),
  );
  return packages.filter((name) => existsSync(join(home, "node_modules", name, "package.json")));
}

async function expectLicenses(names: Iterable<string>): Promise<void> {
  const licenses = await readdir(join(home, "licenses"));
  for (const name of names) {
    const own = `${name.replace(/^.*node_modules\//, "").replace("/", "+")}-`;
    const file = licenses.find(
      (each) => each.startsWith(own) && /^\d/.test(each.slice(own.length)),
    );
    expect(file, name).toBeDefined();
    const text = await readFile(join(home, "licenses", file!), "utf8");
    expect(text, name).toMatch(/permission|permitted|licensed under|apache license/i);
  }
}

test("the launcher works through links of any kind, without Node.js on the path", async () => {
  const [absolute, relative] = [join(base, "absolute link"), join(base, "relative")];
  await symlink(join(home, "bin/repute"), absolute);
  await symlink("absolute link", relative);
  await symlink(join(home, "bin"), join(base, "bin"));
  for (const file of [join(home, "bin/repute"), absolute, relative, join(base, "bin/repute")]) {
    expect(await alone(file, ["--version"])).toEqual({
      code: 0,
      stdout: `${version}\n`,
      stderr: "",
    });
  }
  await symlink(join(home, "bin/repute"), join(base, "path/repute"));
  const found = await alone("/bin/sh", ["-c", "repute --version"]);
  expect(found.stdout).toBe(`${version}\n`);
});

test("the launcher becomes the program, so that signals reach it", async () => {
  const env = { PATH: join(base, "path"), HOME: base };
  const child = spawn(join(home, "bin/repute"), ["serve", "--port", "0"], { env });
  const closed = new Promise((resolve) => child.on("close", (...ends) => resolve(ends)));
  await new Promise((resolve) => child.stdout.once("data", resolve));
  expect(await readlink(`/proc/${child.pid}/exe`)).toBe(join(home, "libexec/node"));
  child.kill("SIGTERM");
  expect(await closed).toEqual([expect.any(Number), null]);
});

test("a run writes its output and report", async () => {
  const outputs = ["-o", "out.csv", "--report", "out.html"];
  const { code, stderr } = await repute("enrich", "in.csv", "--local", ...outputs);
  expect([code, stderr]).toEqual([0, expect.stringContaining("malicious")]);
  expect(await readFile(join(base, "out.html"), "utf8")).toContain("<html");
});

test("the command in the hint adds the drivers, each with its licence text", async () => {
  const enrich = () => repute("enrich", "in.csv", "--local", "-o", "out.parquet");
  const before = await enrich();
  expect([before.code, before.stderr]).toEqual([2, expect.stringContaining("hyparquet-writer")]);
  const command = /install it with: (.*)/.exec(before.stderr)?.[1] ?? "";
  expect(command).toContain(drivers);
  await run("sh", ["-c", command], { cwd: packages });
  expect(await enrich()).toMatchObject({ code: 0 });
  const output = "duckdb:out.duckdb?table=t";
  expect(await repute("enrich", "in.csv", "--local", "-o", output)).toMatchObject({ code: 0 });
  await expectLicenses(await installed());
});

test("every optional package loads", async () => {
  const text = await readFile(packagePath("package.json"), "utf8");
  const { peerDependencies } = JSON.parse(text) as { readonly peerDependencies: object };
  // One has no main file.
  const modules: Readonly<Record<string, string>> = {
    "@modelcontextprotocol/sdk": "@modelcontextprotocol/sdk/server/mcp.js",
  };
  const names = Object.keys(peerDependencies).map((name) => modules[name] ?? name);
  const source = `for (const name of ${JSON.stringify(names)}) await import(name);`;
  await writeFile(join(home, "load.mjs"), source);
  const loaded = await alone(join(home, "libexec/node"), [join(home, "load.mjs")]);
  expect(loaded).toMatchObject({ code: 0, stderr: "" });
});
