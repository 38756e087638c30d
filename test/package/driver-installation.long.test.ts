import { cp, mkdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { packagePath } from "../../src/core/program.js";
import { loopbackRegistry } from "../helpers/loopback-registry.js";
import { ended } from "../helpers/shell.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

/** An installed repute without drivers. */
interface Installation {
  /** The program as the user starts it. */
  readonly program: string;
  /** The folder in which the user starts it. */
  readonly cwd: string;
  /** The command to install the drivers of PostgreSQL. */
  readonly command: string;
}

const drivers = "pg pg-copy-streams";

/** Ways to install repute below a folder, laid out as npm does. */
const ways: Readonly<Record<string, (base: string) => Promise<Installation>>> = {
  "installed globally": async (base) => {
    const prefix = join(base, "global");
    await layOut(join(prefix, "lib", "node_modules", "repute"));
    const command = `npm install -g ${drivers} --prefix ${prefix}`;
    return { program: await linked(prefix), cwd: await elsewhere(base), command };
  },
  "installed in a project": async (base) => {
    const cwd = await project(base);
    const program = join(cwd, "node_modules", ".bin", "repute");
    return { program, cwd, command: `npm install ${drivers}` };
  },
  "installed in a project, started in another folder": async (base) => {
    const folder = await project(base);
    const program = join(folder, "node_modules", ".bin", "repute");
    const command = `npm install ${drivers} --prefix ${folder}`;
    return { program, cwd: await elsewhere(base), command };
  },
  "a checkout": async (base) => {
    const cwd = join(base, "checkout");
    await layOut(cwd);
    const program = join("dist", "program", "repute.js");
    return { program, cwd, command: `npm install ${drivers} --include=dev` };
  },
  "a linked checkout": async (base) => {
    const [checkout, prefix] = [join(base, "checkout"), join(base, "global")];
    await layOut(checkout);
    await mkdir(join(prefix, "lib", "node_modules"), { recursive: true });
    await symlink(checkout, join(prefix, "lib", "node_modules", "repute"));
    const command = `npm install ${drivers} --include=dev --prefix ${checkout}`;
    return { program: await linked(prefix), cwd: await elsewhere(base), command };
  },
};

test.each(Object.keys(ways))(
  "the command shown installs a missing driver where repute finds it: %s",
  async (way) => {
    const base = await realpath(await temporaryFolder());
    await layOutDependencies(base);
    const { program, cwd, command } = await ways[way]!(base);
    const enrich = () => {
      const output = "postgres://nobody@127.0.0.1:9/none?table=t";
      return onServer(process.execPath, [program, "enrich", "-", "--local", "-o", output], cwd);
    };
    const before = await enrich();
    expect(before.stderr).toContain("needs the package pg\n");
    expect(/install it with: (.*)/.exec(before.stderr)?.[1]).toBe(command);

    const registry = await loopbackRegistry(join(base, "registry"), [
      { name: "pg", version: "8.99.0", code: "throw new Error('this is the installed driver');" },
      { name: "pg-copy-streams", version: "7.99.0", code: "" },
    ]);
    const env = { npm_config_registry: registry, npm_config_cache: join(base, "cache") };
    const installed = await onServer("sh", ["-c", command], cwd, env);
    expect(installed.code, installed.stderr).toBe(0);
    expect((await enrich()).stderr).toContain("this is the installed driver");
  },
);

async function elsewhere(base: string): Promise<string> {
  const folder = join(base, "elsewhere");
  await mkdir(folder);
  return folder;
}

async function project(base: string): Promise<string> {
  const folder = join(base, "project");
  const installed = join(folder, "node_modules", "repute");
  await layOut(installed);
  await mkdir(join(folder, "node_modules", ".bin"));
  await symlink("../repute/dist/program/repute.js", join(folder, "node_modules/.bin/repute"));
  const manifest = { private: true, dependencies: { repute: "0.1.0" } };
  await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
  return folder;
}

/** The command in `bin` of a global prefix. */
async function linked(prefix: string): Promise<string> {
  const program = join(prefix, "bin", "repute");
  await mkdir(dirname(program));
  await symlink("../lib/node_modules/repute/dist/program/repute.js", program);
  return program;
}

/** The package as npm unpacks it. Its dependencies are laid out apart, so that npm fetches none. */
async function layOut(folder: string): Promise<void> {
  for (const path of ["dist/program", "samples/dataset"]) {
    await cp(packagePath(path), join(folder, path), { recursive: true });
  }
  const { dependencies: _, scripts: __, devDependencies, ...manifest } = await packed();
  const ownDrivers = drivers.split(" ").map((name) => [name, devDependencies?.[name]]);
  const written = { ...manifest, devDependencies: Object.fromEntries(ownDrivers) as object };
  await writeFile(join(folder, "package.json"), JSON.stringify(written));
}

async function packed(): Promise<Record<string, Readonly<Record<string, string>>>> {
  return JSON.parse(await readFile(packagePath("package.json"), "utf8"));
}

/** The dependencies but not the drivers, where Node.js finds them and npm does not look. */
async function layOutDependencies(base: string): Promise<void> {
  const { dependencies = {} } = await packed();
  for (const name of Object.keys(dependencies)) {
    const place = join(base, "node_modules", name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(packagePath(join("node_modules", name)), place);
  }
}

/** Runs a program as on a server, without settings of npm or repute from around the test. */
function onServer(
  file: string,
  args: readonly string[],
  cwd: string,
  added: Readonly<Record<string, string>> = {},
) {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(npm|repute)_/i.test(name));
  const env = { ...Object.fromEntries(inherited), HOME: cwd, NODE_ENV: "production", ...added };
  return ended(file, args, { cwd, env }, "ip\n192.0.2.1\n");
}
