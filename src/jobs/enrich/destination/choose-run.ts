import { mkdir, rmdir } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { v7 as timeOrderedId } from "uuid";
import { raceAbort } from "../../../core/abort.js";
import { systemClock } from "../../../core/clock.js";
import { outputFault } from "../../../core/files/output-fault.js";
import {
  checkRunWords,
  hasRunWords,
  namedAfter,
  type RunStart,
} from "../../../core/files/output-names.js";
import { fileInputs } from "../../../io/input/types.js";
import { checkFolder } from "../../../io/output/check-paths.js";
import type { Job } from "../types.js";
import { chooseOutput, type OutputTarget } from "./choose-output.js";

/** A job and its output. */
export interface ChosenRun {
  readonly job: Job;
  readonly target: OutputTarget;
}

/** Expands `{date}` and `{run_id}` in the names of a run's files. */
export interface RunNames {
  readonly name: string;
  /** Path from which the name of the state folder derives: the same for all runs. */
  readonly base: string;
  /**
   * Names the files after a run, and creates the folders that are named after it.
   *
   * @param run the interrupted one; null for one that starts now
   * @throws as `chooseRun`
   */
  choose(job: Job, run: RunStart | null): Promise<ChosenRun>;
  /** Removes the folders that were created and are empty. */
  tidy(): Promise<void>;
}

/** The names of a job's runs; null if all have the same. @throws UsageError `run_word` */
export function runNames(given: Job): RunNames | null {
  const { output: sink, run: how } = given.settings;
  const { output } = sink;
  checkRunWords("-o", output.parts);
  if (!hasRunWords(output.parts.file)) return null;
  const { runId = timeOrderedId(), clock = systemClock } = given;
  const now = { runId, startedAt: new Date(clock.now()).toISOString() };
  let made: readonly string[] = [];
  return {
    name: output.given,
    base: output.base(how.stateDir),
    async tidy() {
      for (const folder of made.toReversed()) await rmdir(folder).catch(() => undefined);
    },
    async choose(job, run) {
      const { runId, startedAt } = run ?? now;
      const start = { runId, startedAt };
      if (output.object === null)
        made = [...made, ...(await makeFolders(output.parts.file, start))];
      const settings = { ...given.settings, output: { ...sink, output: output.named(start) } };
      return chooseRun({ ...job, ...start, settings });
    },
  };
}

/**
 * Creates the folders with `{date}` or `{run_id}` in the path of a file.
 *
 * @returns those that were not there
 * @throws UsageError `output_folder_missing` if the first of them has no parent; FatalError
 */
export async function makeFolders(file: string, run: RunStart): Promise<readonly string[]> {
  const steps = dirname(file).split("/");
  const first = steps.findIndex(hasRunWords);
  if (first < 0) return [];
  const made: string[] = [];
  for (let depth = first + 1; depth <= steps.length; depth++) {
    const folder = resolve(namedAfter(steps.slice(0, depth).join("/"), run));
    if (depth === first + 1) await checkFolder(folder);
    await mkdir(folder).then(
      () => made.push(folder),
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw outputFault(folder, error);
      },
    );
  }
  return made;
}

/** Chooses the output of a job. @throws as `chooseOutput` */
export async function chooseRun(job: Job): Promise<ChosenRun> {
  const { settings, signal } = job;
  const { output, run } = settings;
  const inputFormat = () => raceAbort(job.rows.inputFormat(), signal);
  const target = await raceAbort(
    chooseOutput({ ...output, ...run }, inputFormat, inputFiles(job)),
    signal,
    (late) => late.upload?.cleanEmpty(),
  );
  return { job, target };
}

/**
 * The files that the output must not replace. Reading a database file ends
 * before it is written, so the output may be another of its tables.
 */
function inputFiles({ input, settings, refill }: Job): readonly string[] {
  if (refill?.inPlace === true) return [];
  const { isTable } = settings.output.output;
  return fileInputs(input).flatMap(({ path, isObject, table }) => {
    if (table === undefined || isObject === true) return path;
    return table.file === null || (table.isTable && isTable) ? [] : table.file;
  });
}
