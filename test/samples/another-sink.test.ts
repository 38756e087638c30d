import { cp, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "rolldown/utils";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "../helpers/run-repute.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A copy of the built program with the sink added. */
let copy: string;
let program: Required<Pick<RunReputeOptions, "runToEnd">>;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "repute-test-"));
  const built = join(root, "dist");
  await cp(built, join(copy, "dist"), {
    recursive: true,
    filter: (path) => !/^program$|\.d\.ts$/.test(relative(built, path)),
  });
  await cp(join(root, "package.json"), join(copy, "package.json"));
  for (const name of ["samples", "node_modules"]) await symlink(join(root, name), join(copy, name));
  await addSink();
  const path = pathToFileURL(join(copy, "dist", "cli", "command-line", "command-line.js")).href;
  program = (await import(path)) as typeof program;
});

afterAll(() => rm(copy, { recursive: true, force: true }));

/** Follows the docs: copies the file, and adds the import and the line to the registry. */
async function addSink(): Promise<void> {
  const sample = await readFile(join(root, "samples", "sinks", "chunk-folder.ts"), "utf8");
  await build(join("io", "output", "chunk-folder"), sample.replaceAll('"../../src/', '"../../'));

  const page = await readFile(join(root, "docs", "contributing.md"), "utf8");
  const marked = /```ts\n(import .*)\n+(.*)\n```/;
  const [, imported = "", line = ""] = marked.exec(page) ?? [];
  const path = join("io", "output", "registry");
  const registry = await readFile(join(root, "src", `${path}.ts`), "utf8");
  const list = "const warehouses: readonly FindWarehouse[] = [\n";
  expect([registry.includes(list), line.trim()]).toEqual([true, "chunkFolder,"]);
  await build(path, `${imported}\n${registry.replace(list, `${list}${line}\n`)}`);
}

/** Writes what a file of `src/` becomes. */
async function build(path: string, text: string): Promise<void> {
  const { code, errors } = await transform(`${path}.ts`, text);
  expect(errors).toEqual([]);
  await writeFile(join(copy, "dist", `${path}.js`), code);
}

function repute(...args: readonly string[]): Promise<RunReputeResult> {
  return runRepute(args, { cwd: copy, runToEnd: program.runToEnd });
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
  expect([verified.code, verified.stderr]).toEqual([2, expect.stringContaining("cannot be read")]);
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
