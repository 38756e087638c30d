import { lstat, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { openSealedJson } from "../../core/files/json-file.js";
import type { Dirent } from "node:fs";
import { outputFault } from "../../outputs/output-fault.js";
import { type Checkpoint, checkpointVersion, type FinishedRun } from "./checkpoint.js";

/** Progress of an interrupted run. */
export const checkpointName = "checkpoint.json";

/** Marks a run whose rows are complete. */
export const markName = "finished.json";

/** Manifest of the unfinished run, for readers. */
export const recordName = "manifest.json";

/**
 * Reads the checkpoint in a state folder; null if the run was killed before its first one.
 *
 * @throws FatalError `checkpoint_damaged`, `checkpoint_missing`, `checkpoint_unreadable`;
 *   UsageError `checkpoint_version`
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint | null> {
  const found = await readSealed<Checkpoint>(join(folder, checkpointName));
  if (found === null) await mustBeUnused(folder);
  return found;
}

/**
 * Reads the mark of a run that was killed after its rows were complete; null if there is none.
 *
 * @throws as `readCheckpoint`
 */
export function readMark(folder: string): Promise<FinishedRun | null> {
  return readSealed(join(folder, markName));
}

async function readSealed<T extends object>(path: string): Promise<T | null> {
  const text = await readText(path);
  if (text === null) return null;
  const found: { readonly version?: unknown } | null = openSealedJson(text);
  if (found === null) {
    throw new FatalError("checkpoint_damaged", `${path} is damaged: its checksum does not match`, {
      hint: startOver,
    });
  }
  if (found.version === checkpointVersion) return found as T;
  throw new UsageError(
    "checkpoint_version",
    `${path} was written by another version of repute (format ${String(found.version)}; this version reads ${checkpointVersion})`,
    { hint: `finish the run with that version, or ${startOver}` },
  );
}

/** Reads the checkpoint in a state folder; null if it cannot be read for any reason. */
export async function readAnyCheckpoint(folder: string): Promise<Partial<Checkpoint> | null> {
  const read = async (name: string): Promise<object | null> => {
    const text = await readText(join(folder, name)).catch(() => null);
    return text === null ? null : openSealedJson(text);
  };
  const mark: Partial<FinishedRun> | null = await read(markName);
  return mark?.checkpoint ?? read(checkpointName);
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    const what = error instanceof Error ? error.message : String(error);
    throw new FatalError("checkpoint_unreadable", `cannot read ${path}: ${what}`, {
      cause: error,
      hint: `check the disk and the folder's owner and mode, or ${startOver}`,
    });
  }
}

/**
 * A run saves its first checkpoint before its first lookup, so a journal without one means damage.
 */
async function mustBeUnused(folder: string): Promise<void> {
  const records = await stat(join(folder, "journal", "records")).catch(() => null);
  if (records === null || records.size <= emptyJournal) return;
  throw new FatalError(
    "checkpoint_missing",
    `${join(folder, checkpointName)} is missing although the interrupted run has lookups in its journal`,
    { hint: startOver },
  );
}

/** Size in bytes of a journal without records. */
const emptyJournal = 32;

/** Files that a run keeps in its state folder. Any other file there is foreign. */
const ownFiles = [
  /^(checkpoint|finished|manifest)\.json(\.new)?$/,
  /^(input-\d+\/)?input\.(tsv|ndjson|json|parquet)(\.new)?$/,
  /^(parts\/\d+\/)?parquet-(groups|rows-\d+)\.ndjson$/,
  /^parts\/part-\d{5,}\.(csv|tsv|ndjson|parquet)(\.gz)?(\.part)?$/,
  /^known-items(\.new)?$/,
  /^lock(\.[\w-]+)?$/,
  /^(journal|earlier)\/(records|checkpoint\.json(\.new)?)$/,
];

const ownFolders = /^(journal|earlier|input-\d+|parts(\/\d+)?)$/;

/** Maximum number of names in a message. */
const maxNamed = 5;

/**
 * Lists a state folder; empty if it does not exist.
 *
 * @throws UsageError `state_folder_foreign` if it is not a folder or holds foreign files, which
 *   stay untouched
 */
export async function listState(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw outputFault(folder, error);
  });
  if (facts === null) return [];
  if (facts.isSymbolicLink()) throw foreign(`${folder} is a symbolic link`);
  if (!facts.isDirectory()) throw foreign(`${folder} is not a folder`);
  const foreignPaths = await foreignIn(folder);
  if (foreignPaths.length === 0) return readdir(folder);
  const named = foreignPaths.slice(0, maxNamed).join(", ");
  const more = foreignPaths.length > maxNamed ? ` and ${foreignPaths.length - maxNamed} more` : "";
  throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
}

/**
 * Removes a run's files from a state folder, and the folder itself unless it holds foreign files.
 */
export async function removeState(folder: string): Promise<void> {
  const foreignPaths = await foreignIn(folder);
  if (foreignPaths.length === 0) {
    await rm(folder, { recursive: true, force: true });
    return;
  }
  const holdsOthers = (name: string): boolean =>
    foreignPaths.some((path) => path === name || path.startsWith(`${name}/`));
  const entries = await readdir(folder);
  const own = entries.filter((name) => !holdsOthers(name));
  await removeEntries(folder, own);
}

/** Removes entries of a state folder. The checkpoint goes last, since it describes the others. */
export async function removeEntries(folder: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => name !== "checkpoint.json");
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
  if (names.length > others.length) await rm(join(folder, "checkpoint.json"), { force: true });
}

/** @param within a subfolder of the state folder with a trailing slash */
async function foreignIn(folder: string, within = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(join(folder, within))) {
    const path = within + entry.name;
    if (!entry.isDirectory()) {
      if (!ownFiles.some((form) => form.test(path))) found.push(path);
    } else if (ownFolders.test(path)) found.push(...(await foreignIn(folder, `${path}/`)));
    else found.push(path);
  }
  return found;
}

async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw outputFault(folder, error);
  }
}

function foreign(what: string): UsageError {
  return new UsageError("state_folder_foreign", what, {
    hint: "the run needs this name for its state: move those files elsewhere, or write to another output",
  });
}

/** What to do with an interrupted run. */
interface ResumeChoice {
  readonly resume: boolean;
  readonly restart: boolean;
}

/** @throws UsageError `resume_or_restart` if both flags are set */
export function checkResume({ resume, restart }: ResumeChoice): void {
  if (!resume || !restart) return;
  throw new UsageError(
    "resume_or_restart",
    "--resume and --restart exclude each other: give one of them",
  );
}

/** Locks belong to no run. */
export function belongsToRun(name: string): boolean {
  return !name.startsWith("lock");
}
