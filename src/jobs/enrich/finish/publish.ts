import { rm } from "node:fs/promises";
import { FatalError, startOver } from "../../../core/errors.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";
import { findingStatuses } from "../../../core/finding.js";
import { isRefusal, type Manifest, type RunEnding } from "../../../core/manifest.js";
import { inputPaths } from "../../../io/input/types.js";
import { storedManifest, writeManifest } from "../../../io/output/manifest-file.js";
import { partPath } from "../../../io/output/part-file.js";
import type { Publisher } from "../../../io/output/publisher.js";
import { type Stage, stageUpTo } from "../../../io/output/stage.js";
import type { WrittenOutput } from "../../../io/output/types.js";
import type { closingWarnings } from "../warnings.js";
import { isObjectAddress } from "../../../io/s3/address.js";
import { onlySpelling } from "../destination/choose-output.js";
import { exitCodeOfRun, exitCodes } from "../ending.js";
import { refusalOf } from "../failure-limits.js";
import { manifestOf, type SavedRun, suffixOf } from "../record.js";
import type { RunPlace } from "../open-run.js";

/** A run whose last row is written. */
interface WrittenRun extends SavedRun {
  /** Rows read from the source, including those before an interruption. */
  readonly rowsRead: number;
  /** The rows were counted first, are too few, and so were not asked for. */
  readonly isRefused: boolean;
  /** Warnings about the run as a whole, which checkpoints omit: a resumed run finds them again. */
  readonly warnings: ReturnType<typeof closingWarnings>;
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
  const { job, sink, tally, state, publisher } = run;
  const position = await run.save();
  const limits = job.settings.run;
  const { earlier_rows } = tally.counts;
  const refusal = run.isRefused
    ? "too_few_rows"
    : refusalOf(limits, tally.snapshot(), earlier_rows);
  const code = exitCodeOfRun(limits.failOn, tally.counts.statuses);
  const ending: RunEnding = {
    exit_reason: refusal ?? (code === exitCodes.done ? "done" : "rows_failed"),
    exit_code: refusal === null ? code : exitCodes.stopped,
    resumable: false,
  };
  checkCounts(run, position.rows);
  for (const message of run.warnings) tally.warning(message);
  await sink.close();
  const { stage: staged } = publisher.describe();
  const manifest = manifestOf(run, ending, staged === null ? position.length : null);
  if (staged === null) return manifest;
  const stage = stageUpTo(staged, position);
  // Before the mark: a resume that finds none writes lost rows again.
  await stage.verify();
  await state.finish(manifest);
  return publishStaged(run, publisher, stage, manifest);
}

/**
 * Publishes the staged rows of a run, writes its manifest beside them and removes the files that they
 * supersede. May be repeated.
 *
 * @param staged its manifest lacks what is known only of published rows
 * @throws FatalError `output_*`
 */
export async function publishStaged(
  { job, target, state }: RunPlace,
  publisher: Publisher,
  stage: Stage,
  staged: Manifest,
): Promise<Manifest> {
  const suffix = suffixOf(staged);
  const complete = (written: WrittenOutput): Manifest => ({
    ...staged,
    output: { ...staged.output, ...written },
  });
  // A file that was uploaded is made again as it was.
  const at = Date.parse(staged.ended_at);
  const manifest = complete(await publisher.publish(stage, { suffix, at, manifest: complete }));
  const { upload, output } = target;
  const { base } = publisher.describe(suffix);
  if (base === null) return manifest;
  await writeManifest(base, manifest);
  await upload?.publish(suffix, state, job.signal);
  // Text is its own stage, and stays.
  if (upload !== undefined || publisher.describe().stage !== target.file) {
    await state.finish(manifest, true);
  }
  if (suffix !== "") return manifest;
  const { base: failedBase } = publisher.describe(failedSuffix);
  for (const failed of [failedBase, output.object && output.object.address + failedSuffix]) {
    if (failed === null) continue;
    await removeFailed(failed, inputPaths(job.input)).catch((error: Error) => {
      job.onWarning?.(`cannot remove ${failed} of an earlier run: ${error.message}`);
    });
  }
  return manifest;
}

/**
 * Removes the rows and the manifest that an earlier, refused run left. Needs that manifest to say
 * that they are a run's, and never removes this run's input.
 *
 * @param failed path or address of the rows, with the suffix
 */
async function removeFailed(failed: string, inputs: readonly string[]): Promise<void> {
  const manifest = manifestPath(failed);
  const found = await storedManifest(manifest);
  if (!isRefusal(found?.exit_reason) || inputs.map(onlySpelling).includes(onlySpelling(failed)))
    return;
  // Remove the manifest last: the rows can be recognised only by it.
  for (const place of [failed, manifest]) {
    if (isObjectAddress(place))
      await (await import("../../../io/s3/objects.js")).removeObject(place);
    else await rm(place, { force: true });
  }
}

/**
 * Rows read = rows counted = the sum of the statuses, and rows written = those that are not left out.
 *
 * @param written rows that were written
 */
function checkCounts({ rowsRead, tally, target }: WrittenRun, written: number): void {
  const { rows, statuses } = tally.counts;
  const counted = findingStatuses.reduce((sum, status) => sum + statuses[status], 0);
  const faults = [
    rows !== rowsRead && `${rowsRead} rows read, ${rows} looked up`,
    counted !== rows && `${rows} rows looked up, ${counted} with a status`,
    written !== tally.written && `${tally.written} rows to write, ${written} in the output`,
  ].filter((fault) => fault !== false);
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `row counts do not match: ${faults.join("; ")}`, {
    hint: `the rows written are in ${target.file === null ? target.output.name : partPath(target.file)}; please report this as a bug; ${startOver}`,
  });
}
