import { existsSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { FatalError, UsageError } from "../../core/errors.js";
import { hasRunWords } from "../../core/files/output-names.js";
import { isRefusal, type Manifest } from "../../core/manifest.js";
import { temporaryFolder, withResources } from "../../core/resource-stack.js";
import { fileInputs, inputsOf } from "../../io/input/types.js";
import { inFile } from "../../io/output/output.js";
import { isPartLost, outputGone, partPath, removePart } from "../../io/output/part-file.js";
import { stagePath, stageUpTo } from "../../io/output/stage.js";
import { chooseRun } from "./destination/choose-output.js";
import { recordEnding, recordStream } from "./ending.js";
import { publishStaged, suffixOf } from "./finish/publish.js";
import { openPublisher, type RunPlace } from "./open-run.js";
import { inputReading, writtenColumns } from "./rows/reading.js";
import { runRows } from "./run-rows.js";
import { compareFingerprints, takeFingerprint } from "./fingerprint.js";
import { openState } from "./state/open-state.js";
import { type Checkpoint, RunState } from "./state/run-state.js";
import type { EnrichJob, Job, PublishedRun } from "./types.js";

type ChosenRun = Awaited<ReturnType<typeof chooseRun>>;

/** The main job: reads every row of the input, looks up its item and writes the enriched row. */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, session, settings } = job;
  const withheld = await session.withheld(settings.lookup);
  const how = { ...settings.input, isHeld: withheld.isListed };
  return execute({ ...job, rows: inputReading(input, how) });
}

/**
 * Executes a run from its first row to its manifest: prepares its place, moves the rows, publishes them.
 * Keeps the state that a resume needs, if the output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function execute(job: Job): Promise<Manifest> {
  const made: string[] = [];
  try {
    const chosen = await chooseRun(job, made);
    const { upload, base } = chosen.target;
    try {
      return await (base === null ? runToStream(chosen) : runResumably(chosen, job, made));
    } finally {
      upload?.cleanEmpty();
    }
  } finally {
    for (const folder of made.toReversed()) await rmdir(folder).catch(() => undefined);
  }
}

/** The run cannot be resumed, so its journal and staged rows go to a temporary folder. */
async function runToStream({ job, target }: ChosenRun): Promise<Manifest> {
  if (job.settings.run.resume) {
    const message = `--resume needs an output file, and ${target.output.name} is not one`;
    throw new UsageError("resume_needs_file", message);
  }
  await using folder = await temporaryFolder();
  return await withResources(async (stack) => {
    const state = RunState.open(folder.path);
    stack.defer(() => state.release());
    const place = placeRun({ job, target }, state);
    await place.makeCopies(null);
    const manifest = await runRows(place);
    await recordStream(job, manifest);
    return manifest;
  });
}

/**
 * Executes a run whose state is kept beside its output. Completes an earlier run that is finished but
 * for its publishing; starts over if the input or the settings have changed.
 *
 * @param given its job before the output was named after it
 * @param made receives the folders that are created because they are named so
 */
async function runResumably(chosen: ChosenRun, given: Job, made: string[]): Promise<Manifest> {
  const { job, target } = chosen;
  const { onNotice, onWarning } = job;
  const { run: how } = given.settings;
  const { output } = given.settings.output;
  const isNamed = hasRunWords(output.parts.file);
  const name = isNamed ? output.given : output.name;
  const opening = { ...how, name, within: target.upload?.folder, onNotice, onWarning };
  const state = await openState(output.base(how.stateDir), opening);
  const own = placeRun(chosen, state);
  let place = own;

  const complete = async (): Promise<Manifest> => {
    const { published, inputGrew } = await takeUp(place);
    if (published !== null) return published;
    // Which items its rows had is not kept, so they are written again.
    if (job.settings.output.distinct) state.rewind();
    const isResumed = state.checkpoint !== null;
    if (isResumed) await place.makeCopies(state.facts.copies);
    else {
      place = own;
      const file = isNamed ? target.file : null;
      const replaced = (await target.upload?.begin(job.refill?.replacedVersion)) ?? null;
      state.note({ file, replaced, copies: await place.makeCopies(null) });
    }
    return runRows({ ...place, inputGrew });
  };

  try {
    if (isNamed && state.checkpoint !== null) {
      place = placeRun(await chooseRun(given, made, state.checkpoint), state);
    }
    const manifest = await complete().catch(async (error: unknown) => {
      if (isPartLost(error) && state.rewind()) {
        onWarning?.(`${error.message}; the rows are written again with the answers so far`);
      } else await discardIfReplaced(error, place);
      return complete();
    });
    // The answers that a refused run took over are for the next one.
    if (isRefusal(manifest.exit_reason) && (manifest.took_over ?? 0) > 0) {
      await state.startOver();
      place.target.upload?.clean(state.path);
      state.release();
    } else await endRun(place, manifest);
    return manifest;
  } catch (error) {
    await leaveRun(place, error);
    throw error;
  }
}

/** Keeps what a failed run needs to be resumed. One without results leaves nothing behind. */
async function leaveRun({ state, target }: RunPlace, error: unknown): Promise<void> {
  const { file, upload } = target;
  if (state.resumable) {
    await recordEnding(state.path, error);
    return state.release();
  }
  if (file !== null) await removePart(file);
  await state.remove();
  upload?.clean();
}

/** Gives a run its state. Its job reads the copies of its inputs, made or not. */
function placeRun({ job, target }: ChosenRun, state: RunState) {
  const { signal, clock, onWarning, onNotice } = job;
  // Objects keep the types of their values; cells are text.
  const shape = target.format === "ndjson" ? "objects" : "cells";
  const told = { signal, clock, onWarning, onNotice };
  const copied = job.rows.copied?.({ folder: state.path, shape, ...told });
  const own = copied && { ...job, input: copied.input, rows: { ...job.rows, open: copied.open } };
  /** Copies the inputs that are not on this machine, or checks what the interrupted run copied. */
  const makeCopies = async (known: RunState["facts"]["copies"]) =>
    (await copied?.make(known)) ?? null;
  return { job: own ?? job, target, state, makeCopies };
}

/**
 * Takes up what an interrupted run left. Publishes its rows if only that was left to do. If the command or
 * the input has changed since, discards it; the next run takes over its answers.
 *
 * @returns the manifest of a run that is complete; whether the input of any other has grown
 */
async function takeUp(place: RunPlace) {
  const { job, target, state } = place;
  const before = state.checkpoint;
  const nothing = { published: null, inputGrew: false };
  if (before === null) return nothing;
  const published = await finishEarlier(place, before);
  const now = await takeFingerprint(job, target);
  const compared = await compareFingerprints(before.fingerprint, now, job.input);
  const { differences, inputGrew } = compared;
  if (differences.length === 0) {
    if (published === null && inputGrew) {
      job.onWarning?.("the input has grown since the run was interrupted");
    }
    return { published, inputGrew };
  }
  if (published === null) {
    const why = `the interrupted run was a different one: ${differences.join("; ")}`;
    job.onNotice?.(`${why}; a new run starts`);
  } else {
    job.onWarning?.(
      `completed the interrupted run of ${target.output.name}; options or input have changed, so a new run starts now`,
    );
  }
  await state.startOver();
  return nothing;
}

/** Publishes a run that was killed after its last row was written, which may have happened in part. */
async function finishEarlier(place: RunPlace, { source, runId, sink }: Checkpoint) {
  const { job, target, state } = place;
  const { finished } = state.facts;
  if (finished === null) return null;
  const { manifest, isPublished } = finished;
  const { file, upload } = target;
  const left = file === null ? null : file + suffixOf(manifest);
  if (isPublished && left !== null && upload === undefined && !existsSync(left)) {
    throw outputGone(left);
  }
  if (isPublished) return manifest;
  const { onWarning } = job;
  const publisher = await openPublisher({ ...place, source, runId, onWarning });
  const { stage: staged } = publisher.describe();
  if (staged === null) throw new TypeError("a stream is not resumed");
  const stage = stageUpTo(staged, sink!);
  return publishStaged(place, publisher, stage, { ...manifest, resumed: manifest.resumed + 1 });
}

/**
 * Discards the interrupted run if the part of the input that it has read turns out to be another one, or
 * its copy was removed; the next run takes over its answers.
 *
 * @throws the error, if it is another one or the input cannot be read again
 */
async function discardIfReplaced(error: unknown, { job, state }: RunPlace): Promise<void> {
  const isOther = error instanceof FatalError && /^(?:input_changed|copy_gone)$/.test(error.code);
  if (!isOther || state.checkpoint === null) throw error;
  job.onNotice?.(`${error.message}; a new run starts`);
  await state.startOver();
  const { input } = job;
  if (fileInputs(input).length < inputsOf(input).length) throw error;
}

/** Tells of the published rows and removes what a resume would need. */
async function endRun(place: RunPlace, manifest: Manifest): Promise<void> {
  const { job, target, state } = place;
  const { onFinished = (lastStep) => lastStep() } = job;
  const { upload } = target;
  await job.onPublished?.(publishedRun(place, manifest));
  await state.tidy();
  onFinished(() => {
    upload?.clean(state.path);
    state.removeLast(() => upload?.cleanEmpty());
  });
}

/** What a report needs, before the run removes its files. */
function publishedRun({ job, target, state }: RunPlace, manifest: Manifest): PublishedRun {
  const { output } = target;
  const { run: how, output: written } = job.settings;
  return {
    manifest,
    async read() {
      const { readOutput, readStaged } = await import("../../io/output/read.js");
      const { finished, checkpoint } = state.facts;
      // A run that was killed as it removed its files may have none of them.
      const isStaged = existsSync(partPath(stagePath(state.path)));
      if (finished === null || output.rules === null || !isStaged) {
        const { object } = output;
        const local = object && existsSync(object.path) ? inFile(output, object.path) : output;
        const ofRun = { ...local, run: manifest.run_id };
        return readOutput(ofRun, written.prefix, undefined, how.stateDir);
      }
      const { source, sink } = checkpoint!;
      const stage = stageUpTo(stagePath(state.path), sink!);
      return { ...readStaged(stage, output.rules, writtenColumns(job, source)), manifest };
    },
  };
}
