import { join } from "node:path";
import { explainFault } from "../../../client/store/sqlite-file.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { outputFault } from "../../../core/files/system-fault.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** Name of the file with all that must survive of a run. */
export const databaseName = "run.db";

/** Name of the manifest of an unfinished run, for readers. */
export const recordName = "manifest.json";

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  await writeJsonFile(join(folder, recordName), record, true).catch(() => undefined);
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}

/** Explains an error of SQLite or the system. */
export function stateFault(path: string, error: unknown): ReputeError {
  if (error instanceof ReputeError) return error;
  const { kind, message, cause } = explainFault(path, error);
  if (kind === "damaged") {
    const hint = `${startOver}: it keeps the answers that can be read`;
    return new FatalError("state_damaged", message, { cause, hint });
  }
  if (kind === "version") {
    const hint = `finish the run with that version, or ${startOver}`;
    return new UsageError("state_version", message, { hint });
  }
  const fault = outputFault(path, cause);
  if (kind !== "locks") return fault;
  const hint = "name a folder on a local disk with --state-dir";
  return new FatalError(fault.code, message, { cause, hint });
}
