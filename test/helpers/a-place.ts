import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../../src/core/manifest.js";
import { type AnsweringServer, startAnsweringServer } from "./answering-server.js";
import { runRepute, type RunReputeOptions, type RunReputeResult } from "./run-repute.js";
import { temporaryFolder } from "./temporary-folder.js";

/** A folder to work in and a service that answers, for one test. */
export interface Place {
  readonly cwd: string;
  readonly server: AnsweringServer;
  /** Runs the program here, with one query for each item and no rate. */
  readonly run: (args: readonly string[], options?: RunReputeOptions) => Promise<RunReputeResult>;
  readonly read: (name: string) => Promise<string>;
  readonly write: (name: string, text: string) => Promise<void>;
  readonly manifest: (name?: string) => Promise<Manifest>;
}

/** @param files by name */
export async function aPlace(files: Readonly<Record<string, string>> = {}): Promise<Place> {
  const [cwd, server] = [await temporaryFolder(), await startAnsweringServer()];
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "1000000/s"];
  const read = (name: string) => readFile(join(cwd, name), "utf8");
  const write = (name: string, text: string) => writeFile(join(cwd, name), text);
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return {
    cwd,
    server,
    run: (args, options) => runRepute([...args, ...service], { cwd, ...options }),
    read,
    write,
    manifest: async (name = "out.csv") =>
      JSON.parse(await read(`${name}.manifest.json`)) as Manifest,
  };
}

/** A CSV file with the column `domain`, and one row for each. */
export function domains(names: readonly string[]): string {
  return ["domain", ...names, ""].join("\n");
}
