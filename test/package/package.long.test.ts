import { execFile } from "node:child_process";
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** A project with the packed package and its dependencies, and without the optional drivers. */
let project: string;
let packed: { readonly bin: { readonly repute: string }; readonly dependencies: object };

/** Not copied. Building in place would delete `dist` while other tests run the program. */
const unpacked = new Set([".git", ".out", "dist", "node_modules", "test"]);

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "repute-test-"));
  const sources = join(project, "sources");
  await cp(root, sources, {
    recursive: true,
    filter: (path) => !unpacked.has(relative(root, path)),
  });
  await symlink(join(root, "node_modules"), join(sources, "node_modules"));
  await run("npm", ["run", "build"], { cwd: sources });
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", project], { cwd: sources });
  const modules = join(project, "node_modules");
  const installed = join(modules, "repute");
  await mkdir(installed, { recursive: true });
  await run("tar", ["-xzf", "repute-0.1.0.tgz", "-C", installed, "--strip-components", "1"], {
    cwd: project,
  });
  packed = JSON.parse(await readFile(join(installed, "package.json"), "utf8")) as typeof packed;
  // npm would fetch the dependencies and make the program executable; this needs no network.
  for (const name of [...Object.keys(packed.dependencies), "@types/node", "undici-types"]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, "node_modules", name), join(modules, name));
  }
  await mkdir(join(modules, ".bin"));
  await symlink(`../repute/${packed.bin.repute}`, join(modules, ".bin", "repute"));
  await chmod(join(installed, packed.bin.repute), 0o755);
  await writeFile(join(project, "package.json"), '{"type":"module","private":true}');
});

afterAll(() => rm(project, { recursive: true, force: true }));

const service = "{ local: true }";

/** Runs a module in the project; returns what it printed. */
async function printed(source: string): Promise<string> {
  await writeFile(join(project, "run.mjs"), source);
  const { stdout, stderr } = await run(process.execPath, ["run.mjs"], { cwd: project });
  expect(stderr).toBe("");
  return stdout;
}

test("the library looks up items from one import", async () => {
  const source = `import { repute } from "repute";
    const r = repute(${service});
    console.log((await r.lookup("192.0.2[.]1")).verdict);
    await r.close();`;
  expect(await printed(source)).toBe("malicious\n");
});

test("the types hold with skipLibCheck off, and refuse what the options lack", async () => {
  await writeFile(
    join(project, "typed.ts"),
    `import { repute, type LookupResult, type Manifest } from "repute";
    const r = repute(${service});
    const result: LookupResult = await r.lookup("192.0.2.1");
    if (result.status === "complete" && result.query?.type === "IP") result.query.asn.name?.trim();
    if (result.status === "unsupported") result.error.code.trim();
    for await (const { verdict } of r.lookupAll(["192.0.2.1"])) verdict?.trim();
    const manifest: Manifest = await r.enrichFile("in.csv", "out.csv", { itemColumn: "data" });
    manifest.statuses.failed.toFixed();
    // @ts-expect-error there is no such option
    repute({ local: true, rat: "5/s" });
    // @ts-expect-error the item of a result may be null
    result.item.trim();
    await r.close();`,
  );
  const options = ["--module", "nodenext", "--target", "es2023", "--strict", "--noEmit"];
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const checked = run(
    process.execPath,
    [tsc, "--ignoreConfig", ...options, "--skipLibCheck", "false", "--types", "node", "typed.ts"],
    { cwd: project },
  ).catch((error: unknown) => error);
  expect(await checked).toMatchObject({ stdout: "" });
});

test("npx runs the program", async () => {
  const { stdout } = await run("npx", ["--offline", "--no", "--", "repute", "--version"], {
    cwd: project,
  });
  expect(stdout).toContain("0.1.0");
});

test("the program enriches, and names the package that an optional output needs", async () => {
  const enrich = (...args: readonly string[]) =>
    run(join("node_modules", ".bin", "repute"), ["enrich", "in.csv", "--local", ...args], {
      cwd: project,
    }).catch((error: unknown) => error as { readonly stderr: string });
  await writeFile(join(project, "in.csv"), "data\n192.0.2.1\n");
  expect(await enrich("-o", "out.csv", "--quiet")).toMatchObject({ stderr: "" });
  for (const [output, packages] of [
    ["out.parquet", "hyparquet-writer hyparquet"],
    ["duckdb:out.duckdb?table=t", "@duckdb/node-api"],
    ["postgres://nobody@127.0.0.1:9/none?table=t", "pg pg-copy-streams"],
  ] as const) {
    expect((await enrich("-o", output)).stderr).toContain(`npm install ${packages}\n`);
  }
});

test("the samples run where they are installed", async () => {
  const sample = join("node_modules", "repute", "samples", "library", "lookup.mjs");
  const { stdout } = await run(process.execPath, [sample], { cwd: project });
  expect(stdout).toContain("ip 192.0.2.1: malicious");
});
