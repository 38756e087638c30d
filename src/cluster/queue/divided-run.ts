import { rmSync } from "node:fs";
import { startOver } from "../../core/remedies.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { openSealedJson, sealJson } from "../../core/files/json-file.js";
import { realPath } from "../../core/files/real-path.js";
import { hasRunWords } from "../../core/files/output-names.js";
import { inputPaths, type RunInput, type SourceInput } from "../../inputs/types.js";
import { splitWork } from "../chunks/split-work.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { finishedName, planName, readPlan, type WorkPlan } from "../chunks/work-plan.js";
import { findTableInput } from "../../run/copy/find-table-input.js";
import { chooseRun } from "../../run/destination/choose-run.js";
import { readingOf } from "../../run/rows/reading.js";
import {
  compareFingerprints,
  type Fingerprint,
  takeFingerprint,
} from "../../run/state/fingerprint.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../../run/types.js";
import type { OutputTarget } from "../../run/destination/output-target.js";

/** A run whose input and output can be divided. */
export interface DividedRun {
  readonly job: EnrichJob & { readonly input: SourceInput };
  readonly target: OutputTarget;
  readonly base: string;
  /** Format of the chunks. */
  readonly to: WorkPlan["settings"]["to"];
}

/**
 * Of an output in object storage, the job names the local files.
 *
 * @throws UsageError `workers_need_file`, `chunk_option`; as `chooseOutput`
 */
export async function dividedRun(given: EnrichJob): Promise<DividedRun> {
  const input = await oneText(given.input);
  const { settings } = given;
  const { output, run } = settings;
  const idle = [output.raw ? "--raw" : [], run.limit === undefined ? [] : "--limit"];
  const [refused] = idle.flat();
  if (refused !== undefined) {
    const hint = "leave out one of them";
    throw new UsageError("chunk_option", `${refused} does not go with --workers`, { hint });
  }
  if ([output.output, output.rejects].some(hasRunWords)) throw wordsOfWorkers();
  const { job, target } = await chooseRun(given, readingOf(input, settings.input, given.clock));
  const to = formatOf(target);
  if (target.base === null || to === null) {
    target.upload?.cleanEmpty();
    throw needsFile(target);
  }
  return { job: { ...job, input }, target, base: target.base, to };
}

/** The name of the output must not depend on the plan, which is made later. */
function wordsOfWorkers(): UsageError {
  return new UsageError("run_word", "{date} and {run_id} do not go with --workers", {
    hint: 'let the shell name the output: -o "nights/$(date -u +%F).csv"; or divide the input with repute split, and name it in repute merge',
  });
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
  return warehouse === null ? format : "parquet";
}

function needsFile({ name }: OutputTarget): UsageError {
  return new UsageError("workers_need_file", `--workers cannot write ${name}`, {
    hint: "write to a text file, FILE.parquet or a table, or leave out --workers",
  });
}

function fingerprintOf({ job, target }: DividedRun): Promise<Fingerprint> {
  return takeFingerprint(job, readingOf(job.input, job.settings.input, job.clock), target);
}

/** The plan of the interrupted run, or a new one. @throws UsageError `resume_differs` */
export async function planOf(
  run: DividedRun,
  work: WorkFolder,
  rowsPerChunk: number,
): Promise<WorkPlan> {
  const { job, to } = run;
  const { settings, input, signal, clock, onNotice } = job;
  const now = await fingerprintOf(run);
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
  const own = { ...settings.input, ...settings.output, ...settings.lookup, to, rowsPerChunk };
  return splitWork({ input, work, settings: own, signal, clock, onNotice, fingerprint: now });
}

/** A run whose output is published; only its work folder is left to be emptied. */
interface FinishedRun {
  readonly fingerprint?: Fingerprint | undefined;
  readonly manifest: Manifest;
}

/**
 * Finds or discards what an earlier run left in a work folder. Returns the manifest of a run that has
 * finished but for its cleaning, unless the command or the input has changed since.
 *
 * @throws UsageError `state_exists`; FatalError `work_unreadable`
 */
export async function findWork(work: WorkFolder, run: DividedRun): Promise<Manifest | null> {
  const { job, target, base } = run;
  const { resume, restart } = job.settings.run;
  const hasPlan = (await work.read(planName)) !== null;
  if (!resume && !restart && (hasPlan || (await work.read(finishedName)) !== null)) {
    throw new UsageError("state_exists", `an interrupted run exists in ${work.name}`, {
      hint: "continue it with --resume, or discard it with --restart",
    });
  }
  const finished = resume ? await readFinished(work) : null;
  if (finished !== null) {
    const now = await fingerprintOf(run);
    const { differences } = await compareFingerprints(finished.fingerprint ?? now, now, job.input);
    if (differences.length === 0) return finished.manifest;
    job.onWarning?.(
      `the run in ${work.name} has finished; options or input have changed since, so a new run starts now`,
    );
  }
  // The merge would find out only in the end.
  const state = await openStateFolder(base, { resume: false, restart: false, name: target.name });
  await state.remove();
  if (restart || finished !== null || (resume && !hasPlan)) {
    await clearWork(work, job);
    await work.remove(finishedName);
  }
  return null;
}

/** Records that the output is published: from here on, a resume only empties the work folder. */
export async function markFinished(
  work: WorkFolder,
  { fingerprint }: WorkPlan,
  manifest: Manifest,
): Promise<void> {
  await work.publish(
    finishedName,
    `${sealJson({ fingerprint, manifest } satisfies FinishedRun)}\n`,
  );
}

async function readFinished(work: WorkFolder): Promise<FinishedRun | null> {
  const text = await work.read(finishedName);
  if (text === null) return null;
  const finished = openSealedJson(text) as FinishedRun | null;
  if (finished !== null) return finished;
  throw new FatalError("work_unreadable", `${work.address(finishedName)} is damaged`, {
    hint: startOver,
  });
}

/** Removes the mark of a finished run, as the last step: until here, a resume finds it. */
export async function removeMark(
  work: WorkFolder,
  { onFinished = (lastStep) => lastStep() }: EnrichJob,
): Promise<void> {
  if (work.isRemote) await work.remove(finishedName);
  else onFinished(() => rmSync(work.pathOf(finishedName), { force: true }));
}

/** What runs write into a work folder besides the mark. */
const own = /^(?:chunk-\d{5,}\..*|(?:plan|finished)\.json\..*|run\.json(?:\..*)?|input(?:\..*)?)$/;

/** Removes it; the plan first: without it, the rest means nothing. An input that is there stays. */
export async function clearWork(work: WorkFolder, { input }: EnrichJob): Promise<void> {
  const read = new Set(inputPaths(input).map(realPath));
  await work.remove(planName);
  for (const name of await work.list()) {
    if (own.test(name) && !read.has(realPath(work.address(name)))) await work.remove(name);
  }
}
