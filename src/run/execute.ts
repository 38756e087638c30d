import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import { systemClock } from "../core/clock.js";
import { withResources } from "../core/resource-stack.js";
import { raceAbort } from "../core/abort.js";
import { noteRecord, recordEnding } from "./finish/record-ending.js";
import { finishEarlier } from "./finish/finished-run.js";
import { removeParts } from "./finish/publish.js";
import { isObjectAddress } from "../s3/address.js";
import type { StagedRun } from "./destination/staged-run.js";
import { chooseOutput, type OutputTarget } from "./destination/open-output.js";
import type { CopyPlace } from "./copy/copied-input.js";
import { inputReading } from "./copy/find-table-input.js";
import { type FoundRun, openStateFolder, type StateFolder } from "./state/state-folder.js";
import type { EnrichJob, Manifest } from "./types.js";
import { discardIfReplaced, discardRun, discardUnlessSame } from "./discard-run.js";
import type { RowJob } from "./reading.js";
import { inputPaths } from "../inputs/types.js";
import { runRows } from "./run-rows.js";

/**
 * Executes a run from its first row to its manifest. Keeps the state that a resume needs, if the
 * output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function execute(job: EnrichJob, rows: RowJob): Promise<Manifest> {
  const { output, rejects = "" } = job.settings.output;
  if (!isObjectAddress(output) && !isObjectAddress(rejects)) return executeLocally(job, rows);
  const staged = await (
    await import("./destination/staged-run.js")
  ).stageRun(
    job.settings.output,
    rows.inPlace === true ? [] : inputPaths(job.input),
    rows.copiedObjects,
  );
  if (staged === null) return executeLocally(job, rows);
  try {
    const settings = { ...job.settings, output: { ...job.settings.output, ...staged.settings } };
    return await executeLocally({ ...job, settings }, rows, staged);
  } finally {
    await staged.cleanEmpty();
  }
}

async function executeLocally(job: EnrichJob, rows: RowJob, staged?: StagedRun): Promise<Manifest> {
  const { settings, signal } = job;
  const { output, run } = settings;
  const inputFormat = () => raceAbort(rows.inputFormat(), signal);
  const chosen = await chooseOutput({ ...output, ...run }, inputFormat, inputFiles(job, rows));
  const target = staged === undefined ? chosen : { ...chosen, name: staged.name, staged };
  if (output.onlyNew && (target.warehouse?.fill ?? null) === null) {
    throw (await import("./known-items.js")).needsTable(target.name);
  }
  return target.base === null
    ? executeToStream(job, rows, target)
    : executeResumably(job, rows, target, target.base);
}

/**
 * The files that the output must not replace. Reading a database file ends
 * before it is written, so the output may be another of its tables.
 */
function inputFiles({ input, settings }: EnrichJob, { copied }: RowJob): readonly string[] {
  if (copied === undefined) return inputPaths(input);
  const writesDuckdb = /^duckdb:/i.test(settings.output.output);
  const kept = copied.sources.filter(({ kind }) => kind !== "duckdb" || !writesDuckdb);
  return kept.flatMap(({ file }) => file ?? []);
}

interface Preparation {
  readonly target: OutputTarget;
  readonly folder: string;
  readonly isResumed: boolean;
}

/** A job whose input can be opened: of a table, the copy. */
interface ReadyJob {
  readonly job: EnrichJob;
  readonly rows: RowJob;
}

/** Copies the tables of the input. */
async function prepare(job: EnrichJob, rows: RowJob, options: Preparation): Promise<ReadyJob> {
  const placed = inPlace(job, rows, options);
  await rows.copied?.make(copyPlace(job, options), options.isResumed);
  const fill = options.target.warehouse?.fill ?? null;
  if (!job.settings.output.onlyNew || fill === null) return placed;
  const { KnownItems, readKnownItems, withoutKnown } = await import("./known-items.js");
  const known = options.isResumed
    ? await KnownItems.restore(options.folder)
    : await readKnownItems({ ...job, settings: job.settings.output }, fill, options.folder);
  return { ...placed, rows: withoutKnown(placed.rows, known) };
}

/** The same without copying: enough to tell what the input is. */
function inPlace(job: EnrichJob, rows: RowJob, options: Omit<Preparation, "isResumed">): ReadyJob {
  if (rows.copied === undefined) return { job, rows };
  const { input, open } = rows.copied.inFolder(copyPlace(job, options));
  return { job: { ...job, input }, rows: { ...rows, open } };
}

function copyPlace(job: EnrichJob, { target, folder }: Omit<Preparation, "isResumed">): CopyPlace {
  const { signal, clock, onWarning, onNotice } = job;
  // Objects keep the types of their values; cells are text.
  const format = target.format === "ndjson" ? "ndjson" : "tsv";
  const keepsNulls = target.warehouse !== null;
  return { folder, format, keepsNulls, signal, clock, onWarning, onNotice };
}

/** The run cannot be resumed, so its journal goes to a temporary folder. */
function executeToStream(job: EnrichJob, rows: RowJob, target: OutputTarget): Promise<Manifest> {
  if (job.settings.run.resume) {
    const message = `--resume needs an output file, and ${target.name} is not one`;
    throw new UsageError("resume_needs_file", message);
  }
  return withResources(async (stack) => {
    const scratch = await mkdtemp(join(tmpdir(), "repute-"));
    stack.defer(() => rm(scratch, { recursive: true, force: true }));
    const ready = await prepare(job, rows, { target, folder: scratch, isResumed: false });
    const journalPath = join(scratch, "journal");
    const { recordStream } = await import("./finish/stream-record.js");
    return recordStream(ready.job, (recorded) =>
      runRows(recorded, ready.rows, { target, state: null, journalPath }),
    );
  });
}

/**
 * Executes a run whose state is kept beside its output.
 *
 * @param base path from which the name of the state folder derives
 */
export async function executeResumably(
  job: EnrichJob,
  rows: RowJob,
  target: OutputTarget,
  base: string,
): Promise<Manifest> {
  const { settings, onFinished = (lastStep) => lastStep() } = job;
  const discard = async (found: FoundRun): Promise<void> => {
    const { checkQuotasLeft } = await import("../session/check-quotas.js");
    await checkQuotasLeft(job.session, job.clock ?? systemClock, (message) =>
      job.onWarning?.(message),
    );
    await discardRun(job, target, found);
  };
  const state = await openStateFolder(base, { ...settings.run, name: target.name }, discard);
  const noted = noteRecord(job);
  try {
    const place = { target, folder: state.path };
    const placed = inPlace(job, rows, place);
    const manifest =
      (await finishEarlier(placed.job, placed.rows, target, state)) ??
      (await runResumably(noted.job, rows, place, state).catch(async (error: unknown) => {
        await discardIfReplaced(error, placed.job, target, state);
        return runResumably(noted.job, rows, place, state);
      }));
    await state.tidy();
    onFinished(() => {
      state.removeMark();
      target.staged?.clean();
    });
    return manifest;
  } catch (error) {
    // A run without results leaves nothing behind; any other can be resumed.
    if (state.resumable) await recordEnding(state.path, error, noted);
    else await removeParts(target, settings.output.rejects);
    await (state.resumable ? state.release() : state.remove());
    throw error;
  }
}

async function runResumably(
  job: EnrichJob,
  rows: RowJob,
  { target, folder }: { readonly target: OutputTarget; readonly folder: string },
  state: StateFolder,
): Promise<Manifest> {
  const placed = inPlace(job, rows, { target, folder });
  const inputGrew = await discardUnlessSame(placed.job, placed.rows, target, state);
  const isResumed = state.checkpoint !== null;
  const ready = await prepare(job, rows, { target, folder, isResumed });
  const { journalPath } = state;
  return runRows(ready.job, ready.rows, { target, state, journalPath, inputGrew });
}

/**
 * The main job: reads every row of the input, looks up its item and writes the enriched row.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, settings, clock } = job;
  return execute(job, await inputReading(input, settings.input, clock));
}
