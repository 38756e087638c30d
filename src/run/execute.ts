import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../core/errors.js";
import { systemClock } from "../core/clock.js";
import { withResources } from "../core/resource-stack.js";
import { raceAbort } from "../core/abort.js";
import { noteRecord, recordEnding } from "./finish/record-ending.js";
import { finishEarlier } from "./finish/finished-run.js";
import { publishedRun } from "./finish/published-run.js";
import { removeParts } from "./finish/publish.js";
import { isObjectAddress } from "../s3/address.js";
import { chooseOutput } from "./destination/choose-output.js";
import { inputReading } from "./copy/find-table-input.js";
import { type AnyCheckpoint, openStateFolder } from "./state/state-folder.js";
import type { Manifest } from "../core/manifest/manifest.js";
import type { EnrichJob } from "./types.js";
import { discardIfReplaced, discardRun, discardUnlessSame } from "./discard-run.js";
import { rowsTarget } from "./destination/rows-target.js";
import { inputPaths } from "../inputs/types.js";
import { runRows } from "./run-rows.js";
import type { RowHandling, CopiedInput, CopyPlace } from "./rows/row-handling.js";
import { localSettings, type OutputTarget } from "./destination/output-target.js";

/**
 * The main job: reads every row of the input, looks up its item and writes the enriched row.
 *
 * @throws as `execute`
 */
export async function enrich(job: EnrichJob): Promise<Manifest> {
  const { input, settings, clock } = job;
  return execute(job, await inputReading(input, settings.input, clock));
}

/**
 * Executes a run from its first row to its manifest. Keeps the state that a resume needs, if the
 * output can be resumed.
 *
 * @throws UsageError if the job cannot start, FatalError if it cannot continue, EarlyEndError,
 *   InterruptedError
 */
export async function execute(given: EnrichJob, handling: RowHandling): Promise<Manifest> {
  const target = await targetOf(given, handling);
  const { settings } = given;
  const output = localSettings(settings.output, target);
  const job = { ...given, settings: { ...settings, output } };
  try {
    if (output.onlyNew !== false && (target.warehouse?.rows ?? null) === null) {
      throw (await import("./rows/known-items.js")).needsTable(target.name);
    }
    return target.base === null
      ? await runToStream(job, handling, target)
      : await runResumably(job, handling, target, target.base);
  } finally {
    target.upload?.cleanEmpty();
  }
}

async function targetOf(job: EnrichJob, handling: RowHandling): Promise<OutputTarget> {
  const { output, run } = job.settings;
  const inputFormat = () => raceAbort(handling.inputFormat(), job.signal);
  const target =
    job.chunk === true && output.to === undefined
      ? rowsTarget(output.output)
      : await chooseOutput({ ...output, ...run }, inputFormat, inputFiles(job, handling));
  return handling.runId === undefined ? target : { ...target, partsId: randomUUID() };
}

/**
 * The files that the output must not replace. Reading a database file ends
 * before it is written, so the output may be another of its tables.
 */
function inputFiles(
  { input, settings }: EnrichJob,
  { copied, inPlace }: RowHandling,
): readonly string[] {
  if (inPlace === true) return [];
  if (copied === undefined) return inputPaths(input);
  const writesDuckdb = /^duckdb:/i.test(settings.output.output);
  const kept = copied.sources.filter(({ kind }) => kind !== "duckdb" || !writesDuckdb);
  return [...inputPaths(input).filter(isObjectAddress), ...kept.flatMap(({ file }) => file ?? [])];
}

/** Where a run writes, and the folder of what it keeps meanwhile. */
interface Place {
  readonly target: OutputTarget;
  readonly folder: string;
}

/** A job whose input can be opened: of a table, the copy. */
interface ReadyJob {
  readonly job: EnrichJob;
  readonly handling: RowHandling;
}

/** Copies the tables of the input, unless an interrupted run has. */
async function prepare(
  { job, handling }: ReadyJob,
  place: Place,
  copied: CopiedInput | undefined,
  isResumed: boolean,
): Promise<ReadyJob> {
  await copied?.make(copyPlace(job, place), isResumed);
  const table = place.target.warehouse?.rows ?? null;
  const { output } = job.settings;
  if (output.onlyNew === false || table === null) return { job, handling };
  const { KnownItems, readKnownItems, withoutKnown } = await import("./rows/known-items.js");
  const known = isResumed
    ? await KnownItems.restore(place.folder)
    : await readKnownItems({ ...job, settings: output }, table, place.folder);
  return { job, handling: withoutKnown(handling, known) };
}

/** A job that reads the copies of its tables, made or not. */
function withCopies(job: EnrichJob, handling: RowHandling, place: Place): ReadyJob {
  if (handling.copied === undefined) return { job, handling };
  const { input, open } = handling.copied.inFolder(copyPlace(job, place));
  return { job: { ...job, input }, handling: { ...handling, open } };
}

function copyPlace(job: EnrichJob, { target, folder }: Place): CopyPlace {
  const { signal, clock, onWarning, onNotice } = job;
  // Objects keep the types of their values; cells are text.
  const format = target.format === "ndjson" ? "ndjson" : "tsv";
  const keepsNulls = target.warehouse !== null;
  return { folder, format, keepsNulls, signal, clock, onWarning, onNotice };
}

/** The run cannot be resumed, so its journal and staged rows go to a temporary folder. */
function runToStream(
  job: EnrichJob,
  handling: RowHandling,
  target: OutputTarget,
): Promise<Manifest> {
  if (job.settings.run.resume) {
    const message = `--resume needs an output file, and ${target.name} is not one`;
    throw new UsageError("resume_needs_file", message);
  }
  return withResources(async (stack) => {
    const folder = await mkdtemp(join(tmpdir(), "repute-"));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    const place = { target, folder };
    const ready = await prepare(withCopies(job, handling, place), place, handling.copied, false);
    const { recordStream } = await import("./finish/stream-record.js");
    return recordStream(ready.job, (recorded) =>
      runRows(recorded, ready.handling, { target, state: null, folder }),
    );
  });
}

/**
 * Executes a run whose state is kept beside its output. Completes an earlier run that is finished but
 * for its publishing; starts anew if the input or the settings are other ones.
 *
 * @param base path from which the name of the state folder derives
 */
export async function runResumably(
  job: EnrichJob,
  handling: RowHandling,
  target: OutputTarget,
  base: string,
): Promise<Manifest> {
  const { settings, onFinished = (lastStep) => lastStep() } = job;
  const { name, upload } = target;
  const opening = { ...settings.run, name, within: upload?.folder };
  const state = await openStateFolder(base, opening, (found) =>
    discardForRestart(job, target, found),
  );
  const place = { target, folder: state.path };
  const placed = withCopies(job, handling, place);
  const noted = noteRecord(placed.job);
  const start = async (): Promise<Manifest> => {
    const inputGrew = await discardUnlessSame(placed.job, placed.handling, target, state);
    const isResumed = state.checkpoint !== null;
    if (!isResumed) await upload?.begin(handling.replacedVersion);
    const own = { ...placed, job: noted.job };
    const ready = await prepare(own, place, handling.copied, isResumed);
    return runRows(ready.job, ready.handling, { ...place, state, inputGrew });
  };
  try {
    const manifest =
      (await finishEarlier(placed.job, placed.handling, target, state)) ??
      (await start().catch(async (error: unknown) => {
        await discardIfReplaced(error, placed.job, target, state);
        return start();
      }));
    if (upload !== undefined) await state.markPublished(manifest);
    await job.onPublished?.(publishedRun(placed, target, state, manifest));
    await state.tidy();
    onFinished(() => {
      upload?.clean(state.path);
      state.removeMark(() => upload?.cleanEmpty());
    });
    return manifest;
  } catch (error) {
    // A run without results leaves nothing behind; any other can be resumed.
    if (state.resumable) await recordEnding(state.path, error, noted);
    else await removeParts(target, settings.output.rejects);
    await (state.resumable ? state.release() : state.remove());
    if (!state.resumable) upload?.clean();
    throw error;
  }
}

async function discardForRestart(
  job: EnrichJob,
  target: OutputTarget,
  found: AnyCheckpoint | null,
): Promise<void> {
  const { session, clock = systemClock, onWarning = () => undefined } = job;
  const { checkQuotasLeft } = await import("../session/check-quotas.js");
  await checkQuotasLeft(session, clock, onWarning);
  await discardRun(target, found);
}
