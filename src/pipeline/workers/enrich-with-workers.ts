import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../core/clock.js";
import { type EarlyEndError, FatalError, UsageError } from "../../core/errors.js";
import { userStateFolder } from "../../core/files/make-folder.js";
import { takeLock } from "../../core/files/run-lock.js";
import { outputFault } from "../../outputs/output-fault.js";
import { mergeWork } from "../chunks/merge-work.js";
import { isFault, readChunkResult } from "../chunks/chunk-result.js";
import { localWork, type WorkFolder } from "../chunks/work-folder.js";
import { planName, type WorkPlan } from "../chunks/work-plan.js";
import { noteRecord, recordEnding } from "../finish/record-ending.js";
import { openPaces } from "../lookup/open-connections.js";
import type { OutputTarget } from "../output/open-output.js";
import { endAt } from "../run/run-signals.js";
import { belongsToRun, checkResume, listState, workName } from "../state/read-checkpoint.js";
import { statePath } from "../state/state-folder.js";
import type { EnrichJob, Manifest } from "../types.js";
import { openAnswers } from "./answer-desk.js";
import { countResume } from "./count-resume.js";
import { type DividedRun, dividedRun, planOf } from "./divided-run.js";
import { startOf } from "./start-of-worker.js";
import { guidedRows, splitForWorkers } from "./split-for-workers.js";
import { Crew } from "./crew.js";
import { SharedSlots } from "./paces.js";
import { startWorker, type StartWorker } from "./start-worker.js";
import { CrewProgress } from "./crew-progress.js";

/** How a run is spread over the processors of this machine. */
export interface WorkersOptions {
  readonly workers: number;
  /** @default more at the start of the input than at its end */
  readonly rowsPerChunk?: number | undefined;
  /** @default a process for each */
  readonly startWorker?: StartWorker | undefined;
}

/**
 * The main job with several workers on this machine: divides the input in `OUT.state/`, has the
 * workers do the chunks under one pace, and merges.
 *
 * @throws as `enrich`; UsageError `workers_need_file`; FatalError `worker_failed`
 */
export async function enrichWithWorkers(
  given: EnrichJob,
  options: WorkersOptions,
): Promise<Manifest> {
  const run = await dividedRun(given);
  try {
    const manifest = await enrichLocally(run, options);
    run.target.staged?.clean();
    return manifest;
  } finally {
    await run.target.staged?.cleanEmpty();
  }
}

async function enrichLocally(run: DividedRun, options: WorkersOptions): Promise<Manifest> {
  const { job, target } = run;
  const { settings } = job;
  const folder = statePath(run.base);
  const unlock = await openFolder(folder, target, settings);
  const noted = noteRecord(job);
  let isNew = false;
  try {
    const work = localWork(join(folder, workName));
    isNew = (await work.read(planName)) === null;
    const { rowsPerChunk = guidedRows(options.workers) } = options;
    const plan = await planOf(run, work, rowsPerChunk, splitForWorkers);
    const resumed = isNew ? 0 : await countResume(work);
    await doChunks(noted.job, options, { work, plan, resumed });
    const manifest = await mergeWork({ ...job, work, plan, target, resumed, isLocked: true });
    await removeFolder(folder);
    return manifest;
  } catch (error) {
    const isPlanned = existsSync(join(folder, workName, planName));
    if (isPlanned && !isUseless(error, isNew ? noted.soFar() : null)) {
      await recordEnding(folder, error, noted);
    } else await removeFolder(folder);
    throw error;
  } finally {
    await unlock();
  }
}

/**
 * Whether there is nothing to continue: the input has no rows, or nothing was answered but 404.
 *
 * @param soFar what a new run has counted
 */
function isUseless(error: unknown, soFar: Manifest | null): boolean {
  if (!(error instanceof FatalError)) return false;
  if (error.code === "input_empty") return true;
  if (error.code !== "wrong_service" || soFar === null) return false;
  const outcomes = Object.values(soFar.requests).flatMap((each) => Object.keys(each.outcomes));
  return !outcomes.some((outcome) => /^\d+$/.test(outcome) && outcome !== "404");
}

/** Opens and locks the state folder of a run with workers. */
async function openFolder(
  folder: string,
  { name, staged }: OutputTarget,
  { resume, restart }: EnrichJob["settings"],
): Promise<() => Promise<void>> {
  checkResume({ resume, restart });
  await rm(`${folder}.done`, { recursive: true, force: true });
  const found = (await listState(folder)).filter(belongsToRun);
  if (found.length > 0 && (!found.includes(workName) || (!resume && !restart))) {
    throw new UsageError("state_exists", `an interrupted run of ${name} exists (${folder})`, {
      hint: found.includes(workName)
        ? "continue it with --resume, or discard it with --restart"
        : "it ran without --workers: continue it so with --resume, or discard it so with --restart",
    });
  }
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw outputFault(folder, error);
  });
  const unlock = await takeLock(join(folder, "lock"));
  if (restart) {
    await staged?.abort();
    await rm(join(folder, workName), { recursive: true, force: true });
  }
  return unlock;
}

/** Renamed first: a folder that is removed in part would look like an interrupted run. */
async function removeFolder(folder: string): Promise<void> {
  await rename(folder, `${folder}.done`);
  await rm(`${folder}.done`, { recursive: true, force: true });
}

/** A run whose input is divided. */
interface Planned {
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly resumed: number;
}

/** Has the workers do every chunk that is not done. */
async function doChunks(
  job: EnrichJob,
  options: WorkersOptions,
  { work, plan, resumed }: Planned,
): Promise<void> {
  const { clock = systemClock, settings, onWarning = () => undefined } = job;
  const progress = new CrewProgress(plan, settings, resumed);
  const left: number[] = [];
  for (const planned of plan.chunks) {
    const result = await readChunkResult(work, plan, planned);
    if (result === null || isFault(result)) left.push(planned.chunk);
    else progress.done(result);
  }
  if (left.length === 0) return;
  const over = new AbortController();
  let crew: Crew | null = null;
  const onEnd = (error: EarlyEndError): void => crew?.end(error);
  const { stateFolder = userStateFolder(process.env) } = job;
  const { intelUrl: service = "" } = settings;
  const paces = await openPaces(settings, {
    quotas: job.embedded === true ? null : { service, stateFolder, output: null, onWarning },
    clock,
    onEarlyEnd: onEnd,
  });
  const { maxRequests, deadline } = settings;
  const slots = new SharedSlots(paces, { maxRequests, signal: over.signal, onSpent: onEnd });
  const answers = await openAnswers(work.pathOf("answers"), onWarning);
  crew = new Crew({
    workers: options.workers,
    startWorker: options.startWorker ?? startWorker,
    start: startOf(job, work, options.workers),
    slots,
    answers,
    chunks: left,
    signal: job.signal,
    onWarning,
    onStopped: (record) => progress.stopped(record),
    async onDone(chunk) {
      const result = await readChunkResult(work, plan, plan.chunks[chunk]!);
      if (result !== null && !isFault(result)) progress.done(result);
    },
  });
  const running = crew;
  job.onStart?.(
    () => ({ ...progress.now(running.progress), pausedSeconds: paces.pausedMs() / 1000 }),
    () => progress.record(job),
  );
  if (deadline !== undefined) void endAt(deadline, clock, onEnd, over.signal);
  try {
    await running.run();
  } finally {
    over.abort();
    await answers.close();
    await paces.giveBack();
  }
}
