import type { RunPlace } from "./open-run.js";
import { publishStaged } from "./finish/publish.js";
import { fileInputs } from "../../io/input/types.js";
import { FatalError } from "../../core/errors.js";
import { isRefusal, type Manifest } from "../../core/manifest.js";
import { compareFingerprints, takeFingerprint } from "./state/fingerprint.js";
import type { StateFolder } from "./state/state-folder.js";
import type { Job } from "./types.js";
import { openPublisher, stageFile } from "./destination/open-output.js";
import { stageUpTo } from "../../io/output/stage.js";
import { existsSync } from "node:fs";
import { outputGone } from "../../io/output/part-file.js";
import type { FinishedRun } from "./state/checkpoint.js";
import type { OutputTarget } from "./destination/output-target.js";

/**
 * Publishes a run that was killed after its last row was written, and returns its manifest. If the
 * command or the input has changed since, returns null: a new run starts.
 */
export async function finishEarlier(place: RunPlace, state: StateFolder): Promise<Manifest | null> {
  if (state.finished === null) return null;
  const { job, target } = place;
  const { checkpoint, published = false, suffix } = state.finished;
  const { file, upload } = target;
  const isGone = published && file !== null && upload === undefined && !existsSync(file + suffix);
  if (isGone) throw outputGone(file + suffix);
  const manifest = published ? state.finished.manifest : await republish(place, state.finished);
  const now = await takeFingerprint(job, target);
  const { differences } = await compareFingerprints(checkpoint.fingerprint, now, job.input);
  if (differences.length === 0) return manifest;
  job.onWarning?.(
    `completed the interrupted run of ${target.name}; options or input have changed, so a new run starts now`,
  );
  await state.startOver();
  return null;
}

/** Publishes a finished run, which may have happened in part. @throws as the publisher */
async function republish(
  place: RunPlace,
  { checkpoint, suffix, manifest }: FinishedRun,
): Promise<Manifest> {
  const { source, runId, sink } = checkpoint;
  const publisher = await openPublisher({
    ...place,
    source,
    runId,
    onWarning: place.job.onWarning,
  });
  if (publisher === null) throw new TypeError("a stream is not resumed");
  const resumed = { ...manifest, resumed: manifest.resumed + 1 };
  const stage = stageUpTo(stageFile(place.target, place.folder), sink);
  return publishStaged(place, publisher, { stage, suffix, manifest: resumed });
}

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
  { job, target }: RunPlace,
  state: StateFolder,
): Promise<boolean> {
  const before = state.checkpoint?.fingerprint;
  if (before === undefined) return false;
  const now = await takeFingerprint(job, target);
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
export function writeRowsAgain(
  { message }: FatalError,
  { onWarning }: Job,
  state: StateFolder,
): void {
  onWarning?.(`${message}; the rows are written again with the answers so far`);
  state.rewind();
}

/**
 * Discards the interrupted run if the part of the input that it has read turns out to be another one;
 * the next run takes over its answers.
 *
 * @throws the error, if it is another one or the input cannot be read again
 */
export async function discardIfReplaced(
  error: unknown,
  { job, target }: RunPlace,
  state: StateFolder,
): Promise<void> {
  const isChanged = error instanceof FatalError && error.code === "input_changed";
  if (!isChanged || state.checkpoint === null) throw error;
  const files = fileInputs(job.input);
  await discardForNewRun(error.message, job, target, state);
  if ("inputs" in job.input ? files.length === job.input.inputs.length : files.length === 1) return;
  throw error;
}

async function discardForNewRun(
  why: string,
  job: Job,
  target: OutputTarget,
  state: StateFolder,
): Promise<void> {
  job.onNotice?.(`${why}; a new run starts`);
  await discardRun(target);
  await state.startOver();
}

/** Keeps the answers that a refused run took over: they are for the next one that is complete. */
export async function keepAnswers(
  { exit_reason, took_over = 0 }: Manifest,
  { upload }: OutputTarget,
  state: StateFolder,
): Promise<boolean> {
  if (!isRefusal(exit_reason) || took_over === 0) return false;
  await state.startOver();
  upload?.clean(state.path);
  state.release();
  return true;
}
