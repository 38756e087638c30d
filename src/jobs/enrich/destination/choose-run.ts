import { v7 as timeOrderedId } from "uuid";
import { raceAbort } from "../../../core/abort.js";
import { systemClock } from "../../../core/clock.js";
import {
  checkRunWords,
  hasRunWords,
  namedAfter,
  type RunStart,
} from "../../../core/files/output-names.js";
import { inputPaths } from "../../../io/input/types.js";
import { isObjectAddress } from "../../../io/object/address.js";
import type { Job } from "../types.js";
import { outputBase } from "../../../io/output/check-paths.js";
import { chooseOutput } from "./choose-output.js";
import { localSettings, type OutputTarget } from "./output-target.js";
import { NamedFolders, withoutNamedFolders } from "./named-folders.js";

/** A job and its output. */
export interface ChosenRun {
  /** Its settings name local files. */
  readonly job: Job;
  readonly target: OutputTarget;
}

/** How the files of a run are named whose names have `{date}` or `{run_id}`. */
export interface RunNames {
  readonly output: string;
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
  checkRunWords("-o", output);
  if (!hasRunWords(output)) return null;
  const { runId = timeOrderedId(), clock = systemClock } = given;
  const now = { runId, startedAt: new Date(clock.now()).toISOString() };
  const folders = new NamedFolders();
  return {
    output,
    base: outputBase(withoutNamedFolders(output), how.stateDir),
    tidy: () => folders.tidy(),
    async choose(job, run) {
      const { runId, startedAt } = run ?? now;
      const start = { runId, startedAt };
      await folders.make(output, start);
      const settings = {
        ...given.settings,
        output: { ...sink, output: namedAfter(output, start) },
      };
      const chosen = await chooseRun({ ...job, ...start, settings }, output);
      return { ...chosen, target: { ...chosen.target, pattern: output } };
    },
  };
}

/**
 * Chooses the output of a job.
 *
 * @param pattern its name with its words, from which that of a local folder derives
 * @throws as `chooseOutput`
 */
export async function chooseRun(
  given: Job,
  pattern: string = given.settings.output.output,
): Promise<ChosenRun> {
  const { settings, signal } = given;
  const { output, run } = settings;
  const inputFormat = () => raceAbort(given.rows.inputFormat(), signal);
  const target = await raceAbort(
    chooseOutput({ ...output, ...run }, inputFormat, inputFiles(given), pattern),
    signal,
    (late) => late.upload?.cleanEmpty(),
  );
  const job = { ...given, settings: { ...settings, output: localSettings(output, target) } };
  return { job, target };
}

/**
 * The files that the output must not replace. Reading a database file ends
 * before it is written, so the output may be another of its tables.
 */
function inputFiles({ input, settings, rows: { copied }, refill }: Job): readonly string[] {
  if (refill?.inPlace === true) return [];
  if (copied === undefined) return inputPaths(input);
  const writesDuckdb = /^duckdb:/i.test(settings.output.output);
  const kept = copied.sources.filter(({ kind }) => kind !== "duckdb" || !writesDuckdb);
  return [...inputPaths(input).filter(isObjectAddress), ...kept.flatMap(({ file }) => file ?? [])];
}
