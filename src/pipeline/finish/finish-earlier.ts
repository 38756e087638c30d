import { publishAgain } from "./finished-run.js";
import type { OutputTarget } from "../output/open-output.js";
import { compareRuns, takeFingerprint } from "../state/same-run.js";
import type { StateFolder } from "../state/state-folder.js";
import type { EnrichJob, Manifest } from "../types.js";
import type { Work } from "../run/work.js";

/**
 * Publishes a run that was killed after its last row was written. Its manifest stands for this run,
 * unless the command or the input is another one now: then a new run starts.
 */
export async function finishEarlier(
  job: EnrichJob,
  work: Work,
  target: OutputTarget,
  state: StateFolder,
): Promise<Manifest | null> {
  if (state.finished === null) return null;
  const { manifest, ...rest } = state.finished;
  const finished = { ...rest, manifest: { ...manifest, resumed: manifest.resumed + 1 } };
  await publishAgain(job, target, finished, state.path);
  const now = await takeFingerprint(job, work, target);
  const { differences } = await compareRuns(job, finished.checkpoint, now);
  if (differences.length === 0) return finished.manifest;
  job.onWarning?.(
    `completed the earlier run of ${target.name}; this is another one and starts now`,
  );
  await state.startOver();
  return null;
}
