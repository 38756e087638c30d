import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../src/core/manifest.js";
import { runRepute, type RunReputeOptions } from "./run-repute.js";
import { temporaryFolder } from "./temporary-folder.js";

export type Workspace = Awaited<ReturnType<typeof workspace>>;

/** A temporary folder with these files, or a given one, and the program that runs in it. */
export async function workspace(
  files: Readonly<Record<string, string | Buffer>> = {},
  { folder, ...options }: Omit<RunReputeOptions, "cwd"> & { readonly folder?: string } = {},
) {
  const cwd = folder ?? (await temporaryFolder());
  const at = (name: string): string => join(cwd, name);
  const write = (name: string, text: string | Buffer) => writeFile(at(name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const read = (name: string): Promise<string> => readFile(at(name), "utf8");
  return {
    cwd,
    at,
    write,
    read,
    run: (...args: readonly string[]) => runRepute(args, { cwd, ...options }),
    manifest: async (output: string): Promise<Manifest> =>
      JSON.parse(await read(`${output}.manifest.json`)) as Manifest,
  };
}
