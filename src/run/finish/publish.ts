import { existsSync } from "node:fs";
import { FatalError } from "../../core/errors.js";
import { counted as countOf } from "../../core/text/quantity.js";
import { startOver } from "../../core/remedies.js";
import { partPath, readWritten, removePart } from "../../outputs/part-file.js";
import type { Checkpointer } from "../state/checkpointer.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { endingOfRows, exitCodes } from "../exit-reason.js";
import { saveRecord } from "./finished-run.js";
import { findManifest, manifestOf, type RunEnd } from "./manifest.js";
import type { Tally } from "../tally.js";
import type { OpenRun } from "../open-run.js";
import type { SinkPosition, WrittenOutput } from "../../outputs/types.js";
import { findingStatuses } from "../../core/finding.js";
import { tooManyFailed } from "../failure-limits.js";
import type { EnrichJob } from "../types.js";
import { realPath } from "../../core/files/real-path.js";
import { failedSuffix } from "../../core/files/output-names.js";
import type { CountedWarning } from "../counted-warning.js";
import { isTable, type OutputTarget } from "../destination/output-target.js";
import type { Publication } from "../../outputs/publication.js";

/** A run whose last row is written. */
export interface WrittenRun extends OpenRun {
  readonly checkpointer: Checkpointer;
  /** Rows read from the source, including those before an interruption. */
  readonly rowsRead: number;
  /**
   * Warnings about the run as a whole. Checkpoints omit them, since a resumed run finds them again.
   */
  readonly warnings: readonly CountedWarning[];
}

/** How a run ends whose rows are written, and the suffix of its files. */
export function endOfRows(
  { maxFailed, failOn }: Pick<EnrichJob["settings"]["run"], "maxFailed" | "failOn">,
  tally: Tally,
): Pick<RunEnd, "suffix" | "ending"> {
  if (!tooManyFailed(maxFailed, tally.snapshot())) {
    return { suffix: "", ending: endingOfRows(failOn, tally.statuses) };
  }
  const exit_code = exitCodes.stopped;
  const ending = { exit_reason: "too_many_failed", exit_code, resumable: false } as const;
  return { suffix: failedSuffix, ending };
}

/**
 * Completes a run: compares the output with what was written, gives the file its name and writes the manifest beside it.
 * With too many failed rows, that name is `OUT.failed`. If the process is killed from here on,
 * `finishEarlier` repeats the publishing.
 *
 * @throws FatalError `rows_lost` if the counts do not add up; the output keeps its `.part` name;
 *   `output_part_*` if it isn't what was written; as `keepEarlier`
 */
export async function publish(job: EnrichJob, run: WrittenRun): Promise<Manifest> {
  const { target, sink, staged, tally, checkpointer, state } = run;
  if (job.chunk !== true && tally.rows === 0) {
    await keepEarlier(target, staged, 0);
  }
  const position = await sink.checkpoint();
  const { suffix, ending } = endOfRows(job.settings.run, tally);
  const written = await writeTarget(run, suffix, position);
  checkCounts(run, [position.rows, written?.rows ?? position.rows]);
  const checkpoint = await checkpointer.save();
  for (const [message, count] of run.warnings) tally.warning(message, count);
  if (checkpoint === null || state === null) {
    await sink.finish(suffix);
    return manifestOf(job, run, { bytes: position.length, suffix, written, ending });
  }
  const manifest = manifestOf(job, run, { bytes: null, suffix, written, ending });
  await state.markFinished({ checkpoint, manifest, suffix });
  await sink.finish(suffix, manifest);
  await saveRecord(job, target, manifest, suffix);
  return manifest;
}

/** Completes what is going to appear; null for a stream. */
async function writeTarget(
  { target, staged }: WrittenRun,
  suffix: string,
  position: SinkPosition,
): Promise<WrittenOutput | null> {
  if (staged !== null) return staged.prepare(suffix);
  if (target.warehouse !== null || target.file === null) return null;
  return { ...(await readWritten(target.file, position)), rows: position.rows };
}

function checkCounts({ rowsRead, tally, target }: WrittenRun, written: readonly number[]): void {
  const faults = countFaults(rowsRead, tally, written);
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `row counts do not match: ${faults.join("; ")}`, {
    hint: `the rows written are in ${target.file === null ? target.name : partPath(target.file)}; please report this as a bug; ${startOver}`,
  });
}

/**
 * What is wrong with the counts of a run: rows read = rows counted or skipped = the sum of the
 * statuses, and rows written = those that are not left out.
 *
 * @param written rows in each place that they passed
 */
export function countFaults(
  rowsRead: number,
  tally: Pick<Tally, "rows" | "skipped" | "statuses" | "written">,
  written: readonly number[],
): readonly string[] {
  const { rows, skipped, statuses } = tally;
  const also = skipped === 0 ? "" : `, ${skipped} skipped`;
  const counted = findingStatuses.reduce((sum, status) => sum + statuses[status], 0);
  const wrong = new Set(written.filter((count) => count !== tally.written));
  return [
    ...(rows + skipped === rowsRead ? [] : [`${rowsRead} rows read, ${rows} looked up${also}`]),
    ...(counted === rows ? [] : [`${rows} rows looked up, ${counted} with a status`]),
    ...[...wrong].map((count) => `${tally.written} rows to write, ${count} in the output`),
  ];
}

/**
 * Keeps an input without rows, which is mostly a failed export, from replacing an output that has
 * rows. Tables keep their rows anyway, except with `--mode replace`.
 *
 * @param staged rows that are staged for it, or null
 * @param rows number of rows that are about to be published
 * @throws FatalError `input_empty`
 */
export async function keepEarlier(
  target: Pick<OutputTarget, "base" | "file" | "name" | "upload">,
  staged: Pick<Publication, "earlierRows"> | null,
  rows: number,
): Promise<void> {
  if (rows > 0) return;
  const { name, upload } = target;
  const found = (await staged?.earlierRows?.()) ?? (await upload?.earlierRows());
  const earlier = found ?? (await rowsOf(target));
  if (earlier === 0) return;
  const kept = `${name} keeps the ${countOf(earlier, "row")} of the run before`;
  const remedy = isTable(target) ? `empty ${name}` : `remove ${name}`;
  throw new FatalError("input_empty", `the input has no rows; ${kept}`, {
    hint: `check the export that makes the input; if there is nothing to check, ${remedy} first`,
  });
}

/** Rows of the file or data set that will be replaced, by its manifest. */
async function rowsOf({ base, file }: Pick<OutputTarget, "base" | "file">): Promise<number> {
  if (base === null) return 0;
  const isDataSet = base.endsWith("/");
  if (!isDataSet && (file === null || !existsSync(file))) return 0;
  const found = await findManifest(base).catch(() => null);
  return found?.output?.rows ?? 0;
}

/** Removes the `.part` files of a run that will not be resumed. */
export async function removeParts(
  { file }: OutputTarget,
  rejects: string | undefined,
): Promise<void> {
  if (file !== null) await removePart(file);
  if (rejects !== undefined) await removePart(realPath(rejects));
}
