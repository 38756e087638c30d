import { startAnsweringServer } from "./answering-server.js";
import { runRepute, type RunReputeOptions } from "./run-repute.js";
import { workspace } from "./workspace.js";

/** A folder with files to work in and a service that answers, for one test. */
export async function aPlace(files: Readonly<Record<string, string>> = {}) {
  const [place, server] = [await workspace(files), await startAnsweringServer()];
  const service = ["--intel-url", server.url, "--lookups", "query", "--rate", "1000000/s"];
  return {
    ...place,
    server,
    /** Runs the program here, with one query for each item and no rate. */
    run: (args: readonly string[], options?: RunReputeOptions) =>
      runRepute([...args, ...service], { cwd: place.cwd, ...options }),
    manifest: (name = "out.csv") => place.manifest(name),
  };
}

/** A CSV file with the column `domain`, and one row for each. */
export function domains(names: readonly string[]): string {
  return ["domain", ...names, ""].join("\n");
}
