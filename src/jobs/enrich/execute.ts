import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError, FatalError } from "../../core/errors.js";
import { withResources } from "../../core/resource-stack.js";
import { finishEarlier } from "./finish/finished-run.js";
import { type ChosenRun, chooseRun, type RunNames, runNames } from "./destination/choose-run.js";
import { inputReading } from "./copy/find-table-input.js";
import { type FinishedRun, readUnfinished, saveUnfinished } from "./state/checkpoint.js";
import { optionalColumnsOf } from "./rows/reading.js";
import { openStateFolder, type StateFolder } from "./state/state-folder.js";
import { isRefusal, type Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob, Job } from "./types.js";
import type { PublishedRun } from "../../io/output/read.js";
import { isPartLost, removePart } from "../../io/output/part-file.js";
import { runRows } from "./run-rows.js";
import type { CopyPlace } from "./row-source.js";
import type { OutputTarget } from "./destination/output-target.js";
import { makeFolder } from "../../core/files/make-folder.js";
import { manifestPath } from "../../core/files/output-names.js";
import { faultReason } from "../../core/files/system-fault.js";
import { userStateFolder } from "../../core/files/user-folders.js";
import { endingOfError } from "./exit-reason.js";
import { writeManifest } from "../../io/output/manifest-file.js";
import { fileInputs } from "../../io/input/types.js";
import { compareFingerprints, takeFingerprint } from "./state/fingerprint.js";

/**
 * The main job: reads every row of the input, looks up its item and writes the enriched row.
 *
 * @throws as `execute`
 */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, session, settings, clock } = job;
  const withheld = await session.withheld(settings.lookup);
  const how = { ...settings.input, isHeld: withheld.isListed };
  return execute({ ...job, rows: await inputReading(input, how, clock) });
}

/**
 * Executes a run from its first row to its manifest. Keeps the state that a resume needs, if the
 * output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function execute(given: Job): Promise<Manifest> {
  const names = runNames(given);
  try {
    const { job, target } = await (names === null ? chooseRun(given) : names.choose(given, null));
    try {
      return target.base === null
        ? await runToStream(job, target)
        : await runResumably(job, target, names?.base ?? target.base, names);
    } finally {
      target.upload?.cleanEmpty();
    }
  } finally {
    await names?.tidy();
  }
}

/** Where a run writes, and the folder of what it keeps meanwhile. */
interface Place {
  readonly target: OutputTarget;
  readonly folder: string;
}

/** A run whose files have names. Its job reads the copies of its tables, made or not. */
interface PlacedRun extends Place {
  readonly job: Job;
}

function placeRun({ job, target }: ChosenRun, folder: string): PlacedRun {
  const place = { target, folder };
  const { copied } = job.rows;
  if (copied === undefined) return { job, ...place };
  const { input, open } = copied.inFolder(copyPlace(job, place));
  return { job: { ...job, input, rows: { ...job.rows, open } }, ...place };
}

function copyPlace(job: Job, { target, folder }: Place): CopyPlace {
  const { signal, clock, onWarning, onNotice } = job;
  // Objects keep the types of their values; cells are text.
  const format = target.format === "ndjson" ? "ndjson" : "tsv";
  const keepsNulls = target.text === null;
  return { folder, format, keepsNulls, signal, clock, onWarning, onNotice };
}

/** The run cannot be resumed, so its journal and staged rows go to a temporary folder. */
function runToStream(job: Job, target: OutputTarget): Promise<Manifest> {
  if (job.settings.run.resume) {
    const message = `--resume needs an output file, and ${target.name} is not one`;
    throw new UsageError("resume_needs_file", message);
  }
  return withResources(async (stack) => {
    const folder = await mkdtemp(join(tmpdir(), "repute-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const run = placeRun({ job, target }, folder);
    await job.rows.copied?.make(copyPlace(run.job, run), false);
    return recordStream(run.job, (recorded) => runRows(recorded, { target, state: null, folder }));
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
  job: Job,
  target: OutputTarget,
  base: string,
  names: RunNames | null,
): Promise<Manifest> {
  const { settings, onFinished = (lastStep) => lastStep() } = job;
  const { name = target.name } = names ?? {};
  const opening = { ...settings.run, name, within: target.upload?.folder };
  const state = await openStateFolder(base, opening, () => discardRun(target));
  const noted = noteRecord(job);
  const place = (chosen: ChosenRun): PlacedRun => placeRun(chosen, state.path);
  const own = place({ job: noted.job, target });
  let run = own;
  const start = async (): Promise<Manifest> => {
    const inputGrew = await discardUnlessSame(run.job, run.target, state);
    const isResumed = state.checkpoint !== null;
    if (!isResumed) {
      run = own;
      if (names !== null && run.target.file !== null) await state.noteFiles([run.target.file]);
      await target.upload?.begin(job.refill?.replacedVersion);
    }
    await job.rows.copied?.make(copyPlace(run.job, run), isResumed);
    const { target: output, folder } = run;
    return runRows(run.job, { target: output, folder, state, inputGrew });
  };
  try {
    if (names !== null && state.checkpoint !== null) {
      run = place(await names.choose(noted.job, state.checkpoint));
    }
    const complete = async (): Promise<Manifest> =>
      (await finishEarlier(run.job, run.target, state)) ?? start();
    const manifest = await complete().catch(async (error: unknown) => {
      if (isPartLost(error) && state.canRewind) await writeRowsAgain(error, run.job, state);
      else await discardIfReplaced(error, run.job, run.target, state);
      return complete();
    });
    const { upload } = run.target;
    if (await keepAnswers(manifest, run, state)) return manifest;
    if (upload !== undefined) await state.markPublished(manifest);
    await job.onPublished?.(publishedRun(run, state.finished, manifest));
    await state.tidy();
    onFinished(() => {
      upload?.clean(state.path);
      state.removeMark(() => upload?.cleanEmpty());
    });
    return manifest;
  } catch (error) {
    // A run without results leaves nothing behind; any other can be resumed.
    if (state.resumable) await recordEnding(state.path, error, noted);
    else if (run.target.file !== null) await removePart(run.target.file);
    await (state.resumable ? state.release() : state.remove());
    if (!state.resumable) run.target.upload?.clean();
    throw error;
  }
}

/** Keeps the answers that a refused run took over: they are for the next one that is complete. */
async function keepAnswers(
  { exit_reason, took_over = 0 }: Manifest,
  { target }: PlacedRun,
  state: StateFolder,
): Promise<boolean> {
  if (!isRefusal(exit_reason) || took_over === 0) return false;
  await state.startOver();
  target.upload?.clean(state.path);
  await state.release();
  return true;
}

/** What a reader of the rows needs to know, before the run removes its files. */
function publishedRun(
  { job, target: { output }, folder }: PlacedRun,
  finished: FinishedRun | null,
  manifest: Manifest,
): PublishedRun {
  const { checkpoint } = finished ?? {};
  const local = { ...output, object: null };
  const { rules } = output;
  if (checkpoint === undefined || rules === null) return { manifest, local, staged: null };
  const { source, sink: position } = checkpoint;
  const optional = optionalColumnsOf(job);
  const staged = { rules, folder, position, columns: source.columns, optional };
  return { manifest, local, staged };
}

/** A job, and the manifest of its run so far: null until rows flow. */
interface NotedJob {
  readonly job: Job;
  readonly soFar: () => Manifest | null;
}

/** Notes the manifest of a run so far, to record it with the run's ending. */
function noteRecord(job: Job): NotedJob {
  let soFar: (() => Manifest) | null = null;
  const noted: Job = {
    ...job,
    onStart(progress, record) {
      soFar = record;
      job.onStart?.(progress, record);
    },
  };
  return { job: noted, soFar: () => soFar?.() ?? null };
}

/** Records in its state folder why a run ended, with its counts so far. */
async function recordEnding(folder: string, error: unknown, { soFar }: NotedJob): Promise<void> {
  // Wrong usage starts nothing, so the end before it still stands.
  if (error instanceof UsageError) return;
  const record = soFar() ?? (await readUnfinished(folder));
  if (record !== null) await saveUnfinished(folder, { ...record, ...endingOfError(error, true) });
}

/**
 * Runs a job whose rows go to a stream, and writes its manifest to the state folder, where it
 * replaces that of the last such run.
 */
async function recordStream(job: Job, run: (job: Job) => Promise<Manifest>): Promise<Manifest> {
  const noted = noteRecord(job);
  try {
    const manifest = await run(noted.job);
    await save(job, manifest);
    return manifest;
  } catch (error) {
    const record = noted.soFar();
    if (record !== null) await save(job, { ...record, ...endingOfError(error, false) });
    throw error;
  }
}

async function save(job: Job, manifest: Manifest): Promise<void> {
  const { stateFolder = userStateFolder(process.env), onWarning } = job;
  const { stateDir } = job.settings.run;
  const folder = stateDir ?? stateFolder;
  if (folder === null || job.recordsStream !== true) return;
  const base = join(folder, "stdout");
  try {
    makeFolder(folder, 0o700);
    await writeManifest(base, manifest);
  } catch (error) {
    // Only a folder that was asked for is missed.
    if (stateDir === undefined) return;
    const reason = faultReason(error instanceof Error ? (error.cause ?? error) : error);
    onWarning?.(`cannot write ${manifestPath(base)}: ${reason}`);
  }
}

/**
 * Removes what an interrupted run left outside its state folder. Rows that it has published stay.
 *
 * @throws ReputeError
 */
async function discardRun({ upload }: OutputTarget): Promise<void> {
  await upload?.withdraw();
}

/**
 * Discards the interrupted run if it had another input or other settings; the next run takes over its
 * answers. Otherwise returns whether the input has grown.
 */
async function discardUnlessSame(
  job: Job,
  target: OutputTarget,
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
async function writeRowsAgain(
  { message }: FatalError,
  { onWarning }: Job,
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
async function discardIfReplaced(
  error: unknown,
  job: Job,
  target: OutputTarget,
  state: StateFolder,
): Promise<void> {
  const isChanged = error instanceof FatalError && error.code === "input_changed";
  if (!isChanged || state.checkpoint === null) throw error;
  const files = fileInputs(job.input);
  if (files.some(({ isObject }) => isObject === true)) throw error;
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
