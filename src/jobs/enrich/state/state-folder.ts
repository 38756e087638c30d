import { existsSync, rmdirSync } from "node:fs";
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { explainFault } from "../../../client/store/sqlite-file.js";
import { FatalError, ReputeError, startOver, UsageError } from "../../../core/errors.js";
import { privateFolder } from "../../../core/files/folders.js";
import { readJsonFile, writeJsonFile } from "../../../core/files/json-file.js";
import { outputFault } from "../../../core/files/output-fault.js";
import { type Manifest, manifestSchema } from "../../../core/manifest.js";

/** Folder beside an output that holds the state of its run. */
export function statePath(output: string): string {
  return `${output.replace(/\/$/, "")}.state`;
}

/** Name of the file with all that must survive of a run. */
export const databaseName = "run.db";

/** Name of the manifest of an unfinished run, for readers. */
export const recordName = "manifest.json";

/** Exists in a folder whose database was found damaged: what it has left is kept. */
export function damageMark(folder: string): string {
  return join(folder, `${databaseName}.damaged`);
}

/** Saves the manifest of an unfinished run in its state folder. Nothing relies on it, so failures are ignored. */
export async function saveUnfinished(folder: string, record: Manifest): Promise<void> {
  await writeJsonFile(join(folder, recordName), record, true).catch(() => undefined);
}

/** The manifest of an unfinished run; null if there is none. */
export async function readUnfinished(folder: string): Promise<Manifest | null> {
  const found = await readJsonFile(join(folder, recordName)).catch(() => null);
  return manifestSchema.safeParse(found).data ?? null;
}

/**
 * Creates the folder of a state.
 *
 * @param mark where the database of a run is while it removes its folder
 * @throws UsageError `state_no_folder`; FatalError `output_*`
 */
export async function makeStateFolder(folder: string, mark: string): Promise<void> {
  const facts = await lstat(folder).catch(() => null);
  if (facts?.isDirectory() === false) {
    const what = facts.isSymbolicLink() ? "a symbolic link" : "not a folder";
    throw new UsageError("state_no_folder", `${folder} is ${what}`, {
      hint: "the run needs this name for its state: move it elsewhere, or write to another output",
    });
  }
  try {
    await mkdir(folder, privateFolder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    // Left by a run that was killed as it removed its state.
    if (existsSync(mark)) await rename(mark, join(folder, databaseName));
  } catch (error) {
    throw outputFault(folder, error);
  }
}

/** Files and folders that a run keeps beside its database. Anything else in their folder is left alone. */
const own =
  /^(?:run\.db\.[\w.-]+|rows\.part|manifest\.json(?:\.new)?|(?:input-\d+\/)?input\.[\w.]+|input-\d+\/)$/;

/** Removes everything except the database. */
export async function tidyFolder(folder: string): Promise<void> {
  for (const path of await leftIn(folder)) {
    if (path.endsWith("/")) removeEmpty(join(folder, path));
    else await rm(join(folder, path), { force: true });
  }
}

/**
 * What a run has left beside its database, by paths in its folder. Those of folders end with a slash,
 * and follow what is in them.
 */
export async function leftIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.map(
      (entry) =>
        relative(folder, join(entry.parentPath, entry.name)) + (entry.isDirectory() ? "/" : ""),
    );
    return paths
      .filter((path) => own.test(path))
      .toSorted()
      .toReversed();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw outputFault(folder, error);
  }
}

/** Removes a folder unless something is in it. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "ENOENT") throw error;
  }
}

export function hasCode(error: unknown, code: string): boolean {
  return error instanceof ReputeError && error.code === code;
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
