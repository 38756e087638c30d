import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../core/errors.js";
import { openSealedJson, sealJson } from "../core/sealed-json.js";
import { checkpointVersion } from "./checkpoint.js";
import type { Checkpoint } from "./checkpoint.js";

const hint = "start anew with --restart";

/** A checkpoint as text, with a checksum of itself. */
export function checkpointText(checkpoint: Checkpoint): string {
  return `${sealJson(checkpoint)}\n`;
}

/**
 * Reads the checkpoint in a state folder; null when the run was killed before its first one.
 *
 * @throws FatalError `checkpoint_damaged`, `checkpoint_missing`, `checkpoint_unreadable`; UsageError
 * `checkpoint_version`
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint | null> {
  const path = join(folder, "checkpoint.json");
  const text = await readText(path);
  if (text === null) {
    await mustBeUnused(folder, path);
    return null;
  }
  const found: Partial<Checkpoint> | null = openSealedJson(text) ?? unsealed(text);
  if (found === null) {
    throw new FatalError(
      "checkpoint_damaged",
      `${path} is damaged: it is not what the interrupted run wrote`,
      { hint },
    );
  }
  if (found.version === checkpointVersion) return found as Checkpoint;
  throw new UsageError(
    "checkpoint_version",
    `${path} was written by another version of repute (form ${String(found.version)}, this one reads ${checkpointVersion})`,
    { hint: "finish it with that version, or start anew with --restart" },
  );
}

/** Reads the checkpoint in a state folder; null where it cannot be read, whatever the reason. */
export async function readAnyCheckpoint(folder: string): Promise<Partial<Checkpoint> | null> {
  const text = await readText(join(folder, "checkpoint.json")).catch(() => null);
  return text === null ? null : (openSealedJson(text) ?? unsealed(text));
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

/** Checkpoints before version 2 have no checksum; null for what is none of them. */
function unsealed(text: string): Partial<Checkpoint> | null {
  try {
    const found = JSON.parse(text) as Partial<Checkpoint> | null;
    const isOlder = typeof found?.version === "number" && found.version < 2;
    return isOlder && !Object.hasOwn(found, "checksum") ? found : null;
  } catch {
    return null;
  }
}

/** A run writes its first checkpoint before its first lookup. */
async function mustBeUnused(folder: string, path: string): Promise<void> {
  const records = await stat(join(folder, "journal", "records")).catch(() => null);
  if (records === null || records.size <= emptyJournal) return;
  throw new FatalError(
    "checkpoint_missing",
    `${path} is missing, but the interrupted run has lookups in its journal`,
    { hint },
  );
}

/** Bytes of a journal without a record. */
const emptyJournal = 32;
