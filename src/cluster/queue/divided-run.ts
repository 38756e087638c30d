import { UsageError } from "../../core/errors.js";
import { hasRunWords } from "../../core/files/run-words.js";
import { inputPaths, type RunInput, type SourceInput } from "../../inputs/types.js";
import { splitWork } from "../chunks/split-work.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { planName, readPlan, type WorkPlan } from "../chunks/work-plan.js";
import { findTableInput } from "../../run/copy/find-table-input.js";
import { chooseOutput } from "../../run/destination/choose-output.js";
import { readingOf } from "../../run/rows/reading.js";
import {
  compareFingerprints,
  type Fingerprint,
  takeFingerprint,
} from "../../run/state/fingerprint.js";
import type { EnrichJob } from "../../run/types.js";
import { localSettings, type OutputTarget } from "../../run/destination/output-target.js";

/** A run whose input and output can be divided. */
export interface DividedRun {
  readonly job: EnrichJob & { readonly input: SourceInput };
  readonly target: OutputTarget;
  /** Path of the output. */
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
  const job = { ...given, input: await oneText(given.input) };
  const { input, settings } = job;
  const { output, run } = settings;
  const idle = [
    output.raw ? "--raw" : [],
    run.limit === undefined ? [] : "--limit",
    output.onlyNew === false ? [] : "--only-new",
  ];
  const [refused] = idle.flat();
  if (refused !== undefined) {
    const hint = "leave out one of them";
    throw new UsageError("chunk_option", `${refused} does not go with --workers`, { hint });
  }
  if ([output.output, output.rejects].some(hasRunWords)) throw wordsOfWorkers();
  const reading = readingOf(input, settings.input, job.clock);
  const inputFormat = () => reading.inputFormat();
  const target = await chooseOutput({ ...output, ...run }, inputFormat, inputPaths(input));
  const to = formatOf(target);
  if (target.base === null || to === null) {
    target.upload?.cleanEmpty();
    throw needsFile(target);
  }
  const local = { ...settings, output: localSettings(output, target) };
  return { job: { ...job, settings: local }, target, base: target.base, to };
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

export function fingerprintOf({ job, target }: DividedRun): Promise<Fingerprint> {
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
