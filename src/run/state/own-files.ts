import { rmdirSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { UsageError } from "../../core/errors.js";
import { openSealedJson } from "../../core/files/json-file.js";
import { takeLock, type Unlock } from "../../core/files/run-lock.js";
import { removePart } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";
import { checkpointName, writeSealed } from "./checkpoint.js";

/** Entries that a run keeps in its state folder. Any other is foreign. */
const ownEntries =
  /^(?:(?:begun|checkpoint|finished|manifest|input)\.json(?:\.new)?|input\.(?:tsv|ndjson|parquet)(?:\.new)?|input-\d+|rows\.part|parts|known-items(?:\.new)?|seen-items\.part|lock(?:\.holder)?|journal|earlier)$/;

/** Maximum number of names in a message. */
const maxNamed = 5;

/**
 * Lists what a run has in its state folder: all but the lock. Empty if the folder does not exist.
 *
 * @throws UsageError `state_folder_foreign` if it is not a folder or holds foreign files, which
 *   stay untouched
 */
export async function listState(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    if (error.code === "ENOTDIR") throw foreign(`${folder} is not a folder`);
    throw outputFault(folder, error);
  });
  const others = entries.filter((name) => !ownEntries.test(name));
  if (others.length === 0) return entries.filter(belongsToRun);
  const named = others.slice(0, maxNamed).join(", ");
  const more = others.length > maxNamed ? ` and ${others.length - maxNamed} more` : "";
  throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
}

/** Locks belong to no run. */
export function belongsToRun(name: string): boolean {
  return !name.startsWith("lock");
}

/** Removes a run's files from a state folder, and the folder itself unless it holds foreign files. */
export async function removeState(folder: string): Promise<void> {
  const entries = await readdir(folder).catch(() => null);
  if (entries === null) return;
  await removeEntries(
    folder,
    entries.filter((name) => ownEntries.test(name)),
  );
  removeEmpty(folder);
}

/** Removes entries of a state folder. The checkpoint goes last, since it describes the others. */
export async function removeEntries(folder: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => name !== checkpointName);
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
  if (names.length > others.length) await rm(join(folder, checkpointName), { force: true });
}

/** Removes a state folder unless it holds foreign files. */
export function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw error;
  }
}

function foreign(what: string): UsageError {
  return new UsageError("state_folder_foreign", what, {
    hint: "the run needs this name for its state: move those files elsewhere, or write to another output",
  });
}

/**
 * Creates a state folder if it is missing, and locks it. Returns a function that releases it.
 *
 * @throws UsageError `output_locked` if a run is in progress
 */
export async function lockFolder(folder: string): Promise<Unlock> {
  try {
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return await takeLock(join(folder, "lock"));
  } catch (error) {
    throw error instanceof UsageError ? error : outputFault(folder, error);
  }
}

/** Names the files that a run writes, where another run of the same state writes others. */
export const begunName = "begun.json";

/** Notes the files that a run is about to write, and removes what an earlier one has left of its own. */
export async function noteFiles(folder: string, files: readonly string[]): Promise<void> {
  await removeBegun(folder);
  await writeSealed(join(folder, begunName), { files });
}

/** Removes the unfinished files of the run that is given up. */
export async function removeBegun(folder: string): Promise<void> {
  const text = await readFile(join(folder, begunName), "utf8").catch(() => null);
  const noted = text === null ? null : openSealedJson(text);
  const { files = [] } = (noted ?? {}) as { readonly files?: readonly string[] };
  for (const file of files) await removePart(file);
}
