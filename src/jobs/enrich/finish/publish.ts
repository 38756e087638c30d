import type { Job } from "../types.js";
import { rm } from "node:fs/promises";
import { readJsonFile } from "../../../core/files/json-file.js";
import { realPath } from "../../../core/files/folders.js";
import { type Manifest, parseManifest, type RunEnding } from "../../../core/manifest.js";
import { inputPaths } from "../../../io/input/types.js";
import { type FailedPlace, removeFailed, writeManifest } from "../../../io/output/manifest-file.js";
import { type OutputTarget, resultOf } from "../destination/choose-output.js";
import { FatalError, startOver } from "../../../core/errors.js";
import { partPath } from "../../../io/output/part-file.js";
import type { Publisher } from "../../../io/output/publisher.js";
import { type Stage, stageUpTo } from "../../../io/output/stage.js";
import { stageFile } from "../destination/open-output.js";
import type { Checkpointer } from "../state/checkpoint.js";
import { endingOfRows, exitCodes } from "../ending.js";
import { manifestOf, withWritten } from "./manifest.js";
import type { OpenRun, RunPlace } from "../open-run.js";
import type { WrittenOutput } from "../../../io/output/types.js";
import { findingStatuses } from "../../../core/finding.js";
import { refusalOf } from "../failure-limits.js";
import { failedSuffix } from "../../../core/files/output-names.js";
import type { CountedWarning } from "../counters.js";

/** A run whose last row is written. */
interface WrittenRun extends OpenRun {
  readonly checkpointer: Checkpointer;
  /** Rows read from the source, including those before an interruption. */
  readonly rowsRead: number;
  /** The rows were counted first, are too few, and so were not asked for. */
  readonly isRefused: boolean;
  /**
   * Warnings about the run as a whole. Checkpoints omit them, since a resumed run finds them again.
   */
  readonly warnings: readonly CountedWarning[];
}

/**
 * Completes a run: publishes its rows and writes the manifest beside them. If it must not replace the
 * earlier output, its name is `OUT.failed`. If the process is killed from here on, `finishEarlier`
 * repeats the publishing.
 *
 * @throws FatalError `rows_lost` if the counts do not add up; `output_part_*` if the rows are not what
 *   was written
 */
export async function publish(run: WrittenRun): Promise<Manifest> {
  const { job, sink, tally, checkpointer, state, publisher } = run;
  const position = await sink.checkpoint();
  const limits = job.settings.run;
  const { earlier_rows } = tally.facts;
  const refusal = run.isRefused
    ? "too_few_rows"
    : refusalOf(limits, tally.snapshot(), earlier_rows);
  const suffix = refusal === null ? "" : failedSuffix;
  const ending: RunEnding =
    refusal === null
      ? endingOfRows(limits.failOn, tally.statuses)
      : { exit_reason: refusal, exit_code: exitCodes.stopped, resumable: false };
  checkCounts(run, position.rows);
  const checkpoint = await checkpointer.save();
  for (const [message, count] of run.warnings) tally.warning(message, count);
  await sink.close();
  const bytes = publisher === null ? position.length : null;
  const manifest = manifestOf(run, { bytes, suffix, ending });
  if (publisher === null) return manifest;
  const stage = stageUpTo(stageFile(run.target, run.folder), position);
  // Before the mark: a resume that finds none writes lost rows again.
  await stage.verify();
  if (checkpoint !== null && state !== null) {
    await state.markFinished({ checkpoint, manifest, suffix });
  }
  return publishStaged(run, publisher, { stage, manifest, suffix });
}

interface StagedRun {
  readonly stage: Stage;
  /** Without what is known only of published rows. */
  readonly manifest: Manifest;
  readonly suffix: string;
}

/** Publishes the staged rows of a run, and its manifest. May be repeated. */
export async function publishStaged(
  place: Pick<RunPlace, "job" | "target">,
  publisher: Publisher,
  { stage, manifest, suffix }: StagedRun,
): Promise<Manifest> {
  const complete = (written: WrittenOutput): Manifest => withWritten(manifest, written);
  // A file that was uploaded is made again as it was.
  const at = Date.parse(manifest.ended_at);
  const published = complete(await publisher.publish(stage, { suffix, at, manifest: complete }));
  await saveRecord(place, published, suffix);
  return published;
}

/**
 * Rows read = rows counted = the sum of the statuses, and rows written = those that are not left out.
 *
 * @param written rows that were written
 */
function checkCounts({ rowsRead, tally, target }: WrittenRun, written: number): void {
  const { rows, statuses } = tally;
  const counted = findingStatuses.reduce((sum, status) => sum + statuses[status], 0);
  const faults = [
    rows !== rowsRead && `${rowsRead} rows read, ${rows} looked up`,
    counted !== rows && `${rows} rows looked up, ${counted} with a status`,
    written !== tally.written && `${tally.written} rows to write, ${written} in the output`,
  ].filter((fault) => fault !== false);
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `row counts do not match: ${faults.join("; ")}`, {
    hint: `the rows written are in ${target.file === null ? target.name : partPath(target.file)}; please report this as a bug; ${startOver}`,
  });
}

/**
 * Writes the manifest beside an output and removes the files it supersedes. @throws FatalError
 * `output_*`
 */
async function saveRecord(
  { job, target }: Pick<RunPlace, "job" | "target">,
  manifest: Manifest,
  suffix: string,
): Promise<void> {
  if (target.base === null) return;
  await writeManifest(resultOf(target, target.base, suffix).base, manifest);
  if (suffix === "") await removeFailedOutput(job, target, target.base);
  const { signal, onWarning } = job;
  await target.upload?.publish({
    suffix,
    signal,
    inputs: inputPaths(job.input),
    onWarning,
  });
}

/** Removes the `OUT.failed` files of an earlier run of the same output. */
async function removeFailedOutput(job: Job, target: OutputTarget, base: string): Promise<void> {
  const failed = resultOf(target, base, failedSuffix).base;
  const inputs = inputPaths(job.input).map(realPath);
  const place: FailedPlace = {
    readManifest: (path) =>
      readJsonFile(path)
        .then((value) => parseManifest(value, path))
        .catch(() => null),
    remove: (path) => rm(path, { force: true }),
  };
  try {
    await removeFailed(place, failed, inputs);
  } catch (error) {
    job.onWarning?.(`cannot remove OUT.failed of an earlier run: ${(error as Error).message}`);
  }
}
