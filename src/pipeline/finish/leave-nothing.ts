import { removePart } from "../../outputs/file-destination.js";
import { discardRows } from "../run/discard-rows.js";
import { finalPath } from "../output/final-path.js";
import type { OutputTarget } from "../output/open-output.js";
import type { AnyCheckpoint, StateFolder } from "../state/state-folder.js";
import type { EnrichJob } from "../types.js";

/**
 * Gives up a run that obtained nothing worth continuing: its rows leave the table that they were
 * written to, and its state folder will be removed. Where the rows cannot be removed, the state stays,
 * so that `--restart` can do it.
 */
export async function giveUp(
  job: EnrichJob,
  target: OutputTarget,
  state: StateFolder | null,
  run: AnyCheckpoint,
): Promise<void> {
  try {
    await discardRows(job, target, { checkpoint: run, finished: false });
    state?.forget();
  } catch (error) {
    job.onWarning?.(`cannot remove the rows of this run: ${(error as Error).message}`);
  }
}

/** Removes the growing files of a run that will not be continued. */
export async function removeParts(
  { file }: OutputTarget,
  rejects: string | undefined,
): Promise<void> {
  if (file !== null) await removePart(file);
  if (rejects !== undefined) await removePart(await finalPath(rejects));
}
