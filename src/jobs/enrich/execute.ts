import { chosenColumns } from "./rows/chosen-columns.js";
import { UsageError } from "../../core/errors.js";
import type { Manifest } from "../../core/manifest.js";
import { scratchFolder, withResources } from "../../core/resource-stack.js";
import { isPartLost, removePart } from "../../io/output/part-file.js";
import { inFile } from "../../io/output/output.js";
import type { PublishedRun } from "../../io/output/read.js";
import { chooseRun, type RunNames, runNames } from "./destination/choose-run.js";
import { noteRecord, recordEnding, recordStream } from "./ending.js";
import type { RunPlace } from "./open-run.js";
import { stageFile } from "./destination/open-output.js";
import {
  discardIfReplaced,
  discardRun,
  discardUnlessSame,
  finishEarlier,
  keepAnswers,
  writeRowsAgain,
} from "./resume.js";
import { inputReading, optionalColumnsOf } from "./rows/reading.js";
import { runRows } from "./run-rows.js";
import { openStateFolder, type StateFolder } from "./state/state-folder.js";
import type { EnrichJob, Job } from "./types.js";

/**
 * The main job: reads every row of the input, looks up its item and writes the enriched row.
 *
 * @throws as `execute`
 */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, session, settings, clock } = job;
  const withheld = await session.withheld(settings.lookup);
  const how = { ...settings.input, isHeld: withheld.isListed };
  return execute({ ...job, rows: inputReading(input, how, clock) });
}

/**
 * Executes a run from its first row to its manifest: prepares its place, moves the rows, publishes them.
 * Keeps the state that a resume needs, if the output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function execute(job: Job): Promise<Manifest> {
  const names = runNames(job);
  try {
    const chosen = await (names === null ? chooseRun(job) : names.choose(job, null));
    const { upload, base } = chosen.target;
    try {
      return await (base === null
        ? runToStream(chosen)
        : runResumably(chosen, names?.base ?? base, names));
    } finally {
      upload?.cleanEmpty();
    }
  } finally {
    await names?.tidy();
  }
}

type ChosenRun = Pick<RunPlace, "job" | "target">;

interface PlacedRun extends RunPlace {
  /** Copies the inputs that are not on this machine, or checks what the interrupted run copied. */
  readonly makeCopies: (isResumed: boolean) => Promise<void>;
}

/** The run cannot be resumed, so its journal and staged rows go to a temporary folder. */
function runToStream({ job, target }: ChosenRun): Promise<Manifest> {
  if (job.settings.run.resume) {
    const message = `--resume needs an output file, and ${target.name} is not one`;
    throw new UsageError("resume_needs_file", message);
  }
  return withResources(async (stack) => {
    const folder = await scratchFolder(stack);
    return recordStream(job, async (recorded) => {
      const place = placeRun({ job: recorded, target }, { folder, state: null });
      await place.makeCopies(false);
      return runRows(place);
    });
  });
}

/**
 * Executes a run whose state is kept beside its output. Completes an earlier run that is finished but
 * for its publishing; starts anew if the input or the settings are other ones.
 *
 * @param base path from which the name of the state folder derives
 * @param names null if the files of all runs have the same names
 */
async function runResumably(
  { job, target }: ChosenRun,
  base: string,
  names: RunNames | null,
): Promise<Manifest> {
  const opening = {
    ...job.settings.run,
    name: names?.name ?? target.name,
    within: target.upload?.folder,
    onNotice: job.onNotice,
    onWarning: job.onWarning,
  };
  const state = await openStateFolder(base, opening, () => discardRun(target));
  const noted = noteRecord(job);
  const placed = (chosen: ChosenRun): PlacedRun => placeRun(chosen, { folder: state.path, state });
  const own = placed({ job: noted.job, target });
  let place = own;

  const moveAll = async (): Promise<Manifest> => {
    const inputGrew = await discardUnlessSame(place, state);
    const isResumed = state.checkpoint !== null;
    if (!isResumed) {
      place = own;
      if (names !== null && target.file !== null) await state.note(target.file);
      await target.upload?.begin(job.refill?.replacedVersion);
    }
    await place.makeCopies(isResumed);
    return runRows({ ...place, inputGrew });
  };
  const complete = async (): Promise<Manifest> =>
    (await finishEarlier(place, state)) ?? (await moveAll());

  try {
    if (names !== null && state.checkpoint !== null) {
      place = placed(await names.choose(noted.job, state.checkpoint));
    }
    const manifest = await complete().catch(async (error: unknown) => {
      if (isPartLost(error) && state.canRewind) writeRowsAgain(error, place.job, state);
      else await discardIfReplaced(error, place, state);
      return complete();
    });
    if (await keepAnswers(manifest, place.target, state)) return manifest;
    await endRun(place, state, manifest);
    return manifest;
  } catch (error) {
    // A run without results leaves nothing behind; any other can be resumed.
    if (state.resumable) await recordEnding(state.path, error, noted);
    else if (place.target.file !== null) await removePart(place.target.file);
    if (state.resumable) state.release();
    else await state.remove();
    if (!state.resumable) place.target.upload?.clean();
    throw error;
  }
}

/** Tells of the published rows and removes what a resume would need. */
async function endRun(place: RunPlace, state: StateFolder, manifest: Manifest): Promise<void> {
  const { job, target } = place;
  const { onFinished = (lastStep) => lastStep() } = job;
  const { upload } = target;
  // Text is its own stage, and stays.
  if (upload !== undefined || stageFile(target, place.folder) !== target.file) {
    await state.markPublished(manifest);
  }
  await job.onPublished?.(publishedRun(place, state, manifest));
  await state.tidy();
  onFinished(() => {
    upload?.clean(state.path);
    state.removeLast(() => upload?.cleanEmpty());
  });
}

/** What a reader of the rows needs to know, before the run removes its files. */
function publishedRun(
  { job, target: { output }, folder }: RunPlace,
  { finished }: StateFolder,
  manifest: Manifest,
): PublishedRun {
  const { checkpoint } = finished ?? {};
  const local = output.object === null ? output : inFile(output, output.object.path);
  const { rules } = output;
  if (checkpoint === undefined || rules === null) return { manifest, local, staged: null };
  const { source, sink: position } = checkpoint;
  const optional = optionalColumnsOf(job);
  const { columns } = chosenColumns(source, job.settings.output.inputColumns);
  const staged = { rules, folder, position, columns, optional };
  return { manifest, local, staged };
}

/** Gives a run its folder. Its job reads the copies of its inputs, made or not. */
function placeRun({ job, target }: ChosenRun, kept: Pick<RunPlace, "folder" | "state">): PlacedRun {
  const { signal, clock, onWarning, onNotice } = job;
  // Objects keep the types of their values; cells are text.
  const shape = target.format === "ndjson" ? "objects" : "cells";
  const copied = job.rows.copied?.({ ...kept, shape, signal, clock, onWarning, onNotice });
  if (copied === undefined) return { job, target, ...kept, makeCopies: async () => undefined };
  const { input, open, make } = copied;
  const own = { ...job, input, rows: { ...job.rows, open } };
  return { job: own, target, ...kept, makeCopies: make };
}
