import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "../../core/clock.js";
import { type EarlyEndError, UsageError } from "../../core/errors.js";
import { userStateFolder } from "../../core/files/make-folder.js";
import { takeLock } from "../../core/files/run-lock.js";
import { inputPaths, type RunInput, type SourceInput } from "../../inputs/types.js";
import { findTableInput } from "../copy/find-table-input.js";
import { outputFault } from "../../outputs/output-fault.js";
import { mergeWork } from "../chunks/merge-work.js";
import { isFault, readResult } from "../chunks/chunk-result.js";
import { localWork, type WorkFolder } from "../chunks/work-folder.js";
import { planName, readPlan, type WorkPlan } from "../chunks/work-plan.js";
import { openPaces } from "../lookup/open-connections.js";
import { chooseOutput, type OutputTarget } from "../output/open-output.js";
import { readingOf } from "../run/reading.js";
import { endAt } from "../run/run-signals.js";
import { compareFingerprints, takeFingerprint } from "../state/fingerprint.js";
import { belongsToRun, listState, workName } from "../state/read-checkpoint.js";
import { statePath } from "../state/state-folder.js";
import type { EnrichJob, Manifest } from "../types.js";
import { openAnswers } from "./answer-desk.js";
import { startOf } from "./start-of-worker.js";
import { splitForWorkers } from "./split-for-workers.js";
import { Crew } from "./crew.js";
import { SharedSlots } from "./paces.js";
import { startWorker, type StartWorker } from "./start-worker.js";
import { CrewProgress } from "./crew-progress.js";

/** How a run is spread over the processors of this machine. */
export interface WorkersOptions {
  readonly workers: number;
  readonly rowsPerChunk: number;
  /** @default a process for each */
  readonly startWorker?: StartWorker;
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
  const job = { ...given, input: await oneText(given.input) };
  const { settings, input } = job;
  if (settings.raw) {
    const hint = "leave out one of them";
    throw new UsageError("chunk_option", "--raw does not go with --workers", { hint });
  }
  const reading = readingOf(input, settings, job.clock);
  const paths = inputPaths(input);
  const target = await chooseOutput(settings.output, settings, () => reading.inputFormat(), paths);
  const to = formatOf(target);
  if (target.base === null || to === null) throw needsFile(target);
  const folder = statePath(target.base);
  const unlock = await openFolder(folder, target, settings);
  try {
    const work = localWork(join(folder, workName));
    const plan = await planOf(job, options, { work, target, to });
    await doChunks(job, options, { work, plan });
    const manifest = await mergeWork({ ...job, work, plan, isLocked: true });
    await removeFolder(folder);
    return manifest;
  } catch (error) {
    if (!existsSync(join(folder, workName, planName))) await removeFolder(folder);
    throw error;
  } finally {
    await unlock();
  }
}

/** The input, which has to be a single one of text. */
async function oneText(input: RunInput): Promise<SourceInput> {
  if ("inputs" in input || ("path" in input && (await findTableInput(input.path)) !== null)) {
    throw new UsageError("workers_need_file", "--workers reads one text input", {
      hint: "name one file, or leave out --workers",
    });
  }
  return input;
}

/** Format of the chunks; null if they cannot be joined into the output. */
function formatOf({ warehouse, format, base }: OutputTarget): WorkPlan["settings"]["to"] | null {
  if (base?.endsWith("/") === true || format === "stix") return null;
  if (warehouse === null) return format;
  return format === "parquet" ? "parquet" : null;
}

function needsFile({ name }: OutputTarget): UsageError {
  return new UsageError("workers_need_file", `--workers cannot write ${name}`, {
    hint: "write to a text file or FILE.parquet, or leave out --workers",
  });
}

/** Opens and locks the state folder of a run with workers. */
async function openFolder(
  folder: string,
  { name }: OutputTarget,
  { resume, restart }: EnrichJob["settings"],
): Promise<() => Promise<void>> {
  if (resume && restart) {
    throw new UsageError("resume_or_restart", "--resume and --restart exclude each other");
  }
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
  if (restart) await rm(join(folder, workName), { recursive: true, force: true });
  return unlock;
}

/** Renamed first: a folder that is removed in part would look like an interrupted run. */
async function removeFolder(folder: string): Promise<void> {
  await rename(folder, `${folder}.done`);
  await rm(`${folder}.done`, { recursive: true, force: true });
}

/** The plan of the interrupted run, or a new one. @throws UsageError `resume_differs` */
async function planOf(
  job: EnrichJob & { readonly input: SourceInput },
  { rowsPerChunk }: WorkersOptions,
  parts: {
    readonly work: WorkFolder;
    readonly target: OutputTarget;
    readonly to: WorkPlan["settings"]["to"];
  },
): Promise<WorkPlan> {
  const { work, target, to } = parts;
  const { settings, input, signal, clock, onNotice } = job;
  const now = await takeFingerprint(job, readingOf(input, settings, clock), target);
  if ((await work.read(planName)) !== null) {
    const plan = await readPlan(work);
    const { differences } = await compareFingerprints(plan.fingerprint ?? now, now, input);
    if (differences.length === 0) return plan;
    throw new UsageError(
      "resume_differs",
      `the interrupted run was a different one: ${differences.join("; ")}`,
      { hint: "repeat it with the same options and input, or start over with --restart" },
    );
  }
  const own = { ...settings, to, rowsPerChunk };
  return splitForWorkers({ input, work, settings: own, signal, clock, onNotice, fingerprint: now });
}

/** Has the workers do every chunk that is not done. */
async function doChunks(
  job: EnrichJob,
  options: WorkersOptions,
  { work, plan }: { readonly work: WorkFolder; readonly plan: WorkPlan },
): Promise<void> {
  const { clock = systemClock, settings, onWarning = () => undefined } = job;
  const progress = new CrewProgress(plan, settings);
  const left: number[] = [];
  for (const planned of plan.chunks) {
    const result = await readResult(work, plan, planned);
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
    async onDone(chunk) {
      const result = await readResult(work, plan, plan.chunks[chunk]!);
      if (result !== null && !isFault(result)) progress.done(result);
    },
  });
  const running = crew;
  job.onStart?.(
    () => progress.now(running.progress),
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
