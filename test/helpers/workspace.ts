import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Manifest } from "../../src/core/manifest.js";
import { startAnsweringServer } from "./answering-server.js";
import { runRepute, type RunReputeOptions } from "./run-repute.js";
import { temporaryFolder } from "./temporary-folder.js";

export type Workspace = Awaited<ReturnType<typeof workspace>>;

export interface WorkspaceOptions extends Omit<RunReputeOptions, "cwd"> {
  /** @default a temporary one */
  readonly folder?: string;
}

type Files = Readonly<Record<string, string | Buffer>>;

/** A folder with these files, and the program that runs in it. */
export async function workspace(files: Files = {}, { folder, ...options }: WorkspaceOptions = {}) {
  const cwd = folder ?? (await temporaryFolder());
  const at = (name: string): string => join(cwd, name);
  const write = async (name: string, text: string | Buffer) => {
    await mkdir(dirname(at(name)), { recursive: true });
    await writeFile(at(name), text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  const read = (name: string): Promise<string> => readFile(at(name), "utf8");
  const runWith = (more: RunReputeOptions, ...args: readonly string[]) =>
    runRepute(args, { cwd, ...options, ...more });
  return {
    cwd,
    at,
    write,
    read,
    run: (...args: readonly string[]) => runWith({}, ...args),
    runWith,
    /** The records of a CSV file by column. */
    records: async (name = "out.csv"): Promise<Record<string, string>[]> =>
      parse(await read(name), { columns: true }),
    manifest: async (output = "out.csv"): Promise<Manifest> =>
      JSON.parse(await read(`${output}.manifest.json`)) as Manifest,
  };
}

export type ServedWorkspace = Awaited<ReturnType<typeof servedWorkspace>>;

/** A workspace, and a service that answers. */
export async function servedWorkspace(files: Files = {}, options: WorkspaceOptions = {}) {
  const [place, server] = [await workspace(files, options), await startAnsweringServer()];
  const service = queriesTo(server);
  const askWith = (more: RunReputeOptions, ...args: readonly string[]) =>
    place.runWith(more, ...args, ...service);
  return {
    ...place,
    server,
    /** Runs the program with one query for each item and no rate. */
    ask: (...args: readonly string[]) => askWith({}, ...args),
    askWith,
  };
}

/** Flags for one query about each item, and no rate. */
export function queriesTo({ url }: { readonly url: string }): readonly string[] {
  return ["--intel-url", url, "--lookups", "query", "--rate", "1000000/s"];
}

/** A CSV file with one column. */
export function column(name: string, cells: readonly string[]): string {
  return [name, ...cells, ""].join("\n");
}
