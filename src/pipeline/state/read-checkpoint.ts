import { lstat, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { openSealedJson } from "../../core/files/json-file.js";
import { type Checkpoint, checkpointVersion } from "./checkpointer.js";
import type { FinishedRun } from "../finish/finished-run.js";
import type { Dirent } from "node:fs";
import { outputFault } from "../../outputs/output-fault.js";

const hint = "start anew with --restart";

/** How far an interrupted run is. */
export const checkpointName = "checkpoint.json";

/** The mark of a run whose rows are complete. */
export const markName = "finished.json";

/**
 * Reads the checkpoint in a state folder; null when the run was killed before its first one.
 *
 * @throws FatalError `checkpoint_damaged`, `checkpoint_missing`, `checkpoint_unreadable`; UsageError
 * `checkpoint_version`
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint | null> {
  const found = await readSealed<Checkpoint>(join(folder, checkpointName));
  if (found === null) await mustBeUnused(folder);
  return found;
}

/**
 * Reads the mark of a run that was killed after its rows were complete; null when there is none.
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
    throw new FatalError(
      "checkpoint_damaged",
      `${path} is damaged: it is not what the interrupted run wrote`,
      { hint },
    );
  }
  if (found.version === checkpointVersion) return found as T;
  throw new UsageError(
    "checkpoint_version",
    `${path} was written by another version of repute (form ${String(found.version)}, this one reads ${checkpointVersion})`,
    { hint: "finish it with that version, or start anew with --restart" },
  );
}

/** Reads the checkpoint in a state folder; null where it cannot be read, whatever the reason. */
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
      hint: "check the disk and the folder's owner and mode, or start anew with --restart",
    });
  }
}

/** A run writes its first checkpoint before its first lookup. */
async function mustBeUnused(folder: string): Promise<void> {
  const records = await stat(join(folder, "journal", "records")).catch(() => null);
  if (records === null || records.size <= emptyJournal) return;
  throw new FatalError(
    "checkpoint_missing",
    `${join(folder, checkpointName)} is missing, but the interrupted run has lookups in its journal`,
    { hint },
  );
}

/** Bytes of a journal without a record. */
const emptyJournal = 32;

/** What a run keeps in its state folder. Anything else there belongs to somebody else. */
const ownFiles = [
  /^(checkpoint|finished|manifest)\.json(\.new)?$/,
  /^parquet-(groups|rows-\d+)\.ndjson$/,
  /^lock(\.[\w-]+)?$/,
  // Versions before 4 kept all but the records of the journal.
  /^journal\/(records|arrivals-[01]|index-\d+|(data|lock)\.mdb)$/,
  /^quota\/((data|lock)\.mdb(-lock)?$|gate|lock)/,
];

const ownFolders = new Set(["journal", "quota"]);

/** Most names that a message lists. */
const mostNamed = 5;

/**
 * Lists what a state folder holds; nothing where there is none.
 *
 * @throws UsageError `state_folder_foreign` when it holds what no run wrote, or is no folder: it is
 * left as it is
 */
export async function listState(folder: string): Promise<readonly string[]> {
  const facts = await lstat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw outputFault(folder, error);
  });
  if (facts === null) return [];
  if (facts.isSymbolicLink()) throw foreign(`${folder} is a symbolic link`);
  if (!facts.isDirectory()) throw foreign(`${folder} is not a folder`);
  const foreigners = await foreignIn(folder);
  if (foreigners.length === 0) return readdir(folder);
  const named = foreigners.slice(0, mostNamed).join(", ");
  const more = foreigners.length > mostNamed ? ` and ${foreigners.length - mostNamed} more` : "";
  throw foreign(`${folder} holds files that repute did not write: ${named}${more}`);
}

/** Removes what a run keeps in a state folder, and the folder where nothing else is left in it. */
export async function removeState(folder: string): Promise<void> {
  const foreigners = await foreignIn(folder);
  if (foreigners.length === 0) {
    await rm(folder, { recursive: true, force: true });
    return;
  }
  const holdsOthers = (name: string): boolean =>
    foreigners.some((foreigner) => foreigner === name || foreigner.startsWith(`${name}/`));
  const entries = await readdir(folder);
  const own = entries.filter((name) => !holdsOthers(name));
  await removeEntries(folder, own);
}

/** Removes these of a state folder; the checkpoint, which tells what the others are, as the last. */
export async function removeEntries(folder: string, names: readonly string[]): Promise<void> {
  const others = names.filter((name) => name !== "checkpoint.json");
  await Promise.all(others.map((name) => rm(join(folder, name), { recursive: true })));
  if (names.length > others.length) await rm(join(folder, "checkpoint.json"), { force: true });
}

/** @param within a folder of the state folder and a slash */
async function foreignIn(folder: string, within = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await entriesOf(join(folder, within))) {
    const path = within + entry.name;
    if (!entry.isDirectory()) {
      if (!ownFiles.some((form) => form.test(path))) found.push(path);
    } else if (ownFolders.has(path)) found.push(...(await foreignIn(folder, `${path}/`)));
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
    hint: "the run needs this name for its own state: move what is there elsewhere, or write to another output",
  });
}
