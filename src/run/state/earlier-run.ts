import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../../core/files/make-folder.js";
import { type Checkpoint, checkpointName, readCheckpoint, writeSealed } from "./checkpoint.js";

/**
 * Folder that keeps the journal of a discarded run, with its checkpoint, until the next run has its
 * answers.
 */
export const earlierName = "earlier";

/** A discarded run whose answers the next one takes over. */
export interface EarlierRun {
  /** Folder of its journal. */
  readonly journalPath: string;
  readonly checkpoint: Checkpoint;
}

/** The discarded run in a state folder; null for none. @throws as `readCheckpoint` */
export async function readEarlierRun(folder: string): Promise<EarlierRun | null> {
  const journalPath = join(folder, earlierName);
  const checkpoint = await readCheckpoint(journalPath);
  return checkpoint === null ? null : { journalPath, checkpoint };
}

/**
 * Keeps a run's journal for the next run. Atomic: the rename discards the run, whose checkpoint has
 * no journal any more.
 */
export async function keepJournal(folder: string, checkpoint: Checkpoint): Promise<void> {
  const journal = join(folder, "journal");
  if (!existsSync(journal)) return;
  await writeSealed(join(journal, checkpointName), checkpoint);
  await rename(journal, join(folder, earlierName));
  await syncFolder(folder);
}

/** Whether the answers of the discarded run among these entries are not in a new run's journal yet. */
export function awaitsTakeOver(found: readonly string[]): boolean {
  // A new run saves its first checkpoint once it has them.
  return (
    found.includes(earlierName) && !(found.includes(checkpointName) && found.includes("journal"))
  );
}
