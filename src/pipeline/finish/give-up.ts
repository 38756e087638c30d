import { removePart } from "../../outputs/file-destination.js";
import type { OutputTarget } from "../output/open-output.js";
import { finalPath } from "../output/paths.js";
import type { AnyCheckpoint, FoundRun, StateFolder } from "../state/state-folder.js";
import type { EnrichJob } from "../types.js";

/**
 * Removes what an interrupted run left in a table, while its checkpoint still tells what that is.
 *
 * @throws ReputeError as the warehouse's kind
 */
export async function discardRows(
  job: EnrichJob,
  { warehouse, name, file }: OutputTarget,
  { checkpoint: found, finished }: FoundRun,
): Promise<void> {
  // A file is written anew from its first byte.
  if (warehouse === null || file !== null) return;
  if (found?.runId === undefined) {
    job.onWarning?.(
      `the checkpoint of the interrupted run cannot be read: what it wrote stays in ${name}`,
    );
    return;
  }
  const prefix = found.fingerprint?.options["prefix"];
  await warehouse.discard({
    runId: found.runId,
    prefix: typeof prefix === "string" ? prefix : job.settings.prefix,
    complete: finished,
  });
}

/**
 * Gives up a run that obtained nothing worth continuing: its rows leave their table, and its state
 * folder will be removed. Where the rows cannot be removed, the state stays, so that `--restart` can
 * remove them.
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
