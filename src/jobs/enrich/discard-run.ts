import { FatalError } from "../../core/errors.js";
import { inputPaths } from "../../io/input/types.js";
import { isObjectAddress } from "../../io/object/address.js";
import { compareFingerprints, takeFingerprint } from "./state/fingerprint.js";
import type { StateFolder } from "./state/state-folder.js";
import type { EnrichJob } from "./types.js";
import type { RowHandling } from "./rows/row-handling.js";
import type { OutputTarget } from "./destination/output-target.js";

/**
 * Removes what an interrupted run left outside its state folder. Rows that it has published stay.
 *
 * @throws ReputeError
 */
export async function discardRun({ upload }: OutputTarget): Promise<void> {
  await upload?.withdraw();
}

/**
 * Discards the interrupted run if it had another input or other settings; the next run takes over its
 * answers. Otherwise returns whether the input has grown.
 */
export async function discardUnlessSame(
  job: EnrichJob,
  handling: RowHandling,
  target: OutputTarget,
  state: StateFolder,
): Promise<boolean> {
  const before = state.checkpoint?.fingerprint;
  if (before === undefined) return false;
  const now = await takeFingerprint(job, handling, target);
  const { differences, inputGrew } = await compareFingerprints(before, now, job.input);
  if (differences.length > 0) {
    const why = `the interrupted run was a different one: ${differences.join("; ")}`;
    await discardForNewRun(why, job, target, state);
    return false;
  }
  if (inputGrew) job.onWarning?.("the input has grown since the run was interrupted");
  return inputGrew;
}

/** Lets a run whose staged rows are lost or damaged write them again. Its answers stay. */
export async function writeRowsAgain(
  { message }: FatalError,
  { onWarning }: EnrichJob,
  state: StateFolder,
): Promise<void> {
  onWarning?.(`${message}; the rows are written again with the answers so far`);
  await state.rewind();
}

/**
 * Discards the interrupted run if the part of the input that it has read turns out to be another one;
 * the next run takes over its answers.
 *
 * @throws the error, if it is another one or the input cannot be read again
 */
export async function discardIfReplaced(
  error: unknown,
  job: EnrichJob,
  target: OutputTarget,
  state: StateFolder,
): Promise<void> {
  const isChanged = error instanceof FatalError && error.code === "input_changed";
  if (!isChanged || state.checkpoint === null) throw error;
  const paths = inputPaths(job.input);
  if (paths.some(isObjectAddress)) throw error;
  await discardForNewRun(error.message, job, target, state);
  if ("inputs" in job.input ? paths.length === job.input.inputs.length : paths.length === 1) return;
  throw error;
}

async function discardForNewRun(
  why: string,
  job: EnrichJob,
  target: OutputTarget,
  state: StateFolder,
): Promise<void> {
  job.onNotice?.(`${why}; a new run starts`);
  await discardRun(target);
  await state.startOver();
}
