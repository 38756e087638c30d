import { FatalError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/make-folder.js";
import { findingStatuses } from "../../core/finding.js";
import { partPath, removePart } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { Checkpointer } from "../state/checkpointer.js";
import type { CountedWarning } from "../run/run-rows.js";
import { saveRecord } from "./finished-run.js";
import { manifestOf } from "./manifest.js";
import type { OutputTarget, TextOutputTarget } from "../output/open-output.js";
import type { OpenRun } from "../run/open-run.js";
import { type Audit, auditOutput, wrongCounts } from "./output-audit.js";
import { tooManyFailed } from "../run/reading.js";
import type { EnrichJob, Manifest } from "../types.js";
import { finalPath } from "../output/check-paths.js";
import type { AnyCheckpoint, FoundRun, StateFolder } from "../state/state-folder.js";

/** A run whose last row was written. */
export interface WrittenRun extends OpenRun {
  readonly checkpointer: Checkpointer;
  /** Rows that the source gave, those before an interruption included. */
  readonly rowsRead: number;
  /** Of the run as a whole. No checkpoint has them, since a resumed run finds them again. */
  readonly warnings: readonly CountedWarning[];
}

/**
 * Ends a run: checks that what is in the file is what was counted, gives the file its name and
 * writes the manifest beside it. With too many failed rows that name is `OUT.failed`. A run that is
 * killed from here on is published by `publishAgain`.
 *
 * @throws FatalError `rows_lost` when the counts do not add up; the output keeps its `.part` name
 */
export async function publish(job: EnrichJob, run: WrittenRun): Promise<Manifest> {
  const { target, sink, tally, checkpointer, state } = run;
  const position = await sink.checkpoint();
  await sink.end?.();
  const audit = await auditTarget(run);
  addUp(run, audit, position.indicators);
  const suffix = tooManyFailed(job.settings.maxFailed, tally.snapshot()) ? failedSuffix : "";
  const checkpoint = await checkpointer.save();
  for (const [message, count] of run.warnings) tally.warning(message, count);
  if (checkpoint === null || state === null) {
    const { bytes } = await sink.finish(suffix);
    return manifestOf(job, run, { written: position, bytes, suffix, audit });
  }
  const manifest = manifestOf(job, run, { written: position, bytes: null, suffix, audit });
  await state.markFinished({ checkpoint, manifest, suffix });
  await sink.finish(suffix);
  await saveRecord(job, target, manifest, suffix);
  return manifest;
}

async function auditTarget(run: WrittenRun): Promise<Audit | null> {
  const { target, warehouse } = run;
  if (target.warehouse !== null) return warehouse?.audit() ?? null;
  return target.file === null ? null : auditText(partPath(target.file), target, run);
}

async function auditText(
  path: string,
  target: TextOutputTarget,
  { encoder }: WrittenRun,
): Promise<Audit> {
  try {
    return await auditOutput(path, {
      format: target.format,
      gzip: target.gzip,
      inputColumns: encoder.columns.length,
      prefix: encoder.prefix,
      shape: encoder.shape,
      hasVerdicts: true,
    });
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(path, error);
  }
}

/**
 * Rows read = rows written = sum of the statuses, in memory and in the file; the verdicts in the file
 * are those that were counted. Of a bundle, which does not hold its rows one by one, the indicators
 * are held against those that were written.
 */
function addUp(
  { rowsRead, tally, target }: WrittenRun,
  audit: Audit | null,
  indicators: number | undefined,
): void {
  const { rows, statuses, verdicts } = tally;
  const counted = findingStatuses.reduce((sum, status) => sum + statuses[status], 0);
  const faults: string[] = [];
  if (rows !== rowsRead) faults.push(`${rowsRead} rows read, ${rows} written`);
  if (counted !== rows) faults.push(`${rows} rows written, ${counted} with a status`);
  const wrong = audit === null ? [] : wrongCounts({ rows, statuses, verdicts, indicators }, audit);
  for (const { what, phrase, said, found } of wrong) {
    faults.push(`${said} ${phrase}, ${found} in the ${what === "indicators" ? "file" : "output"}`);
  }
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `the rows do not add up: ${faults.join("; ")}`, {
    hint: `what was written is in ${target.file === null ? target.name : partPath(target.file)}; if nothing else wrote there, please report this; --restart begins anew`,
  });
}

/**
 * Removes what an interrupted run left in a table, while its checkpoint still tells what that is.
 *
 * @throws ReputeError as the warehouse's kind
 */
export async function discardRows(
  job: EnrichJob,
  { warehouse, name, file }: OutputTarget,
  { checkpoint: found, finished }: FoundRun,
): Promise<void> {
  // A file is written anew from its first byte.
  if (warehouse === null || file !== null) return;
  if (found?.runId === undefined) {
    job.onWarning?.(
      `the checkpoint of the interrupted run cannot be read: what it wrote stays in ${name}`,
    );
    return;
  }
  const prefix = found.fingerprint?.options["prefix"];
  await warehouse.discard({
    runId: found.runId,
    prefix: typeof prefix === "string" ? prefix : job.settings.prefix,
    complete: finished,
  });
}

/**
 * Gives up a run that obtained nothing worth continuing: its rows leave their table, and its state
 * folder will be removed. Where the rows cannot be removed, the state stays, so that `--restart` can
 * remove them.
 */
export async function giveUp(
  job: EnrichJob,
  target: OutputTarget,
  state: StateFolder | null,
  run: AnyCheckpoint,
): Promise<void> {
  try {
    await discardRows(job, target, { checkpoint: run, finished: false });
    state?.forget();
  } catch (error) {
    job.onWarning?.(`cannot remove the rows of this run: ${(error as Error).message}`);
  }
}

/** Removes the growing files of a run that will not be continued. */
export async function removeParts(
  { file }: OutputTarget,
  rejects: string | undefined,
): Promise<void> {
  if (file !== null) await removePart(file);
  if (rejects !== undefined) await removePart(await finalPath(rejects));
}
