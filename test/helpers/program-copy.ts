import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "rolldown/utils";
import { afterAll, expect } from "vitest";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "./run-repute.js";

const root = fileURLToPath(new URL("../..", import.meta.url));

export type ProgramCopy = Awaited<ReturnType<typeof programCopy>>;

/** A copy of the built program, whose files can be changed before it runs. It is removed at the end of the file. */
export async function programCopy() {
  const folder = await mkdtemp(join(tmpdir(), "repute-test-"));
  afterAll(() => rm(folder, { recursive: true, force: true }));
  const built = join(root, "dist");
  await cp(built, join(folder, "dist"), {
    recursive: true,
    filter: (path) => !/^program$|\.d\.ts$/.test(relative(built, path)),
  });
  await cp(join(root, "package.json"), join(folder, "package.json"));
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const changed = new Map<string, string>();

  /** Writes what a file of `src` becomes. */
  async function create(path: string, source: string): Promise<void> {
    const { code, errors } = await transform(`${path}.ts`, source);
    expect(errors).toEqual([]);
    const file = join(folder, "dist", `${path}.js`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
    changed.set(path, source);
  }

  return {
    folder,
    create,
    /** Replaces texts in a file of `src`, and builds it. */
    async change(path: string, ...changes: readonly (readonly [before: string, after: string])[]) {
      let source = changed.get(path) ?? (await readFile(join(root, "src", `${path}.ts`), "utf8"));
      for (const [before, after] of changes) {
        expect(source).toContain(before);
        source = source.replace(before, after);
      }
      await create(path, source);
    },
    /** Runs the copy in its folder. */
    async run(...args: readonly string[]): Promise<RunReputeResult> {
      const path = join(folder, "dist", "cli", "command-line", "command-line.js");
      const { runToEnd } = (await import(pathToFileURL(path).href)) as RunReputeOptions;
      return runRepute(args, { cwd: folder, ...(runToEnd && { runToEnd }) });
    },
  };
}
