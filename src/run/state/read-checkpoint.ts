import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { startOver } from "../../core/error-codes/remedies.js";
import { openSealedJson } from "../../core/files/json-file.js";
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
