import { execFile, execFileSync } from "node:child_process";
import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** A copy of the program with the sink added. */
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "repute-test-"));
  for (const name of ["src", "samples", "package.json", "tsconfig.json", "rolldown.config.mjs"]) {
    await cp(join(root, name), join(copy, name), { recursive: true });
  }
  await symlink(join(root, "node_modules"), join(copy, "node_modules"));
  await addSink();
  const compile = ["node_modules/typescript/bin/tsc", "--noCheck", "--declaration", "false"];
  const bundle = ["node_modules/rolldown/bin/cli.mjs", "--config", "--log-level", "warn"];
  for (const args of [compile, bundle]) execFileSync(process.execPath, args, { cwd: copy });
});

afterAll(() => rm(copy, { recursive: true, force: true }));

/** Follows the docs: copies the file, and adds the import and the line to the registry. */
async function addSink(): Promise<void> {
  const sample = await readFile(join(root, "samples", "sinks", "chunk-folder.ts"), "utf8");
  const placed = sample.replaceAll('"../../src/', '"../');
  await writeFile(join(copy, "src", "outputs", "chunk-folder.ts"), placed);

  const page = await readFile(join(root, "docs", "contributing.md"), "utf8");
  const marked = /```ts\n(import .*)\n+(.*)\n```/;
  const [, imported = "", line = ""] = marked.exec(page) ?? [];
  const path = join(copy, "src", "outputs", "warehouse", "registry.ts");
  const registry = await readFile(path, "utf8");
  const list = "export const warehouses: readonly FindWarehouse[] = [\n";
  expect([registry.includes(list), line.trim()]).toEqual([true, "defineWarehouse(chunkFolder),"]);
  await writeFile(path, `${imported}\n${registry.replace(list, `${list}${line}\n`)}`);
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function repute(...args: readonly string[]): Promise<Ended> {
  const program = join(copy, "dist", "program", "repute.js");
  return run(process.execPath, [program, ...args], { cwd: copy }).then(
    (streams) => ({ code: 0, ...streams }),
    (error: unknown) => error as Ended,
  );
}

/** The rows in a folder's chunks: input and status. */
async function rowsOf(folder: string): Promise<readonly string[]> {
  const names = (await readdir(join(copy, folder))).sort();
  const texts = await Promise.all(names.map((name) => readFile(join(copy, folder, name), "utf8")));
  return texts.flatMap((text) =>
    text
      .trimEnd()
      .split("\n")
      .map((line) => {
        const { rep, ...input } = JSON.parse(line) as { rep: { status: string } };
        return `${JSON.stringify(input)} ${rep.status}`;
      }),
  );
}

const input = join("samples", "indicators.csv");
const enrich = ["enrich", input, "--local", "--quiet", "--fail-on", "never"];

test("chunk-folder.ts and one line make another sink", async () => {
  expect(await repute(...enrich, "-o", "chunks:one")).toMatchObject({ code: 0, stderr: "" });
  const rows = await rowsOf("one");
  expect(rows).toHaveLength(24);
  expect(rows[0]).toContain('{"seen":');
  const { output } = JSON.parse(await readFile(join(copy, "one.manifest.json"), "utf8")) as {
    output: unknown;
  };
  expect(output).toMatchObject({ format: "chunks", rows: 24 });
  const verified = await repute("verify", "chunks:one");
  expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("24 rows")]);
});

test("resumes a run to it with each row once, and starts over without rows of the earlier one", async () => {
  expect(await repute(...enrich, "-o", "chunks:whole")).toMatchObject({ code: 0 });
  for (const how of ["--resume", "--restart"]) {
    const out = ["-o", `chunks:in-parts${how}`];
    expect(await repute(...enrich, ...out, "--max-requests", "12")).toMatchObject({ code: 75 });
    expect(await repute(...enrich, ...out, how)).toMatchObject({ code: 0, stderr: "" });
    expect(await rowsOf(`in-parts${how}`)).toEqual(await rowsOf("whole"));
  }
});
