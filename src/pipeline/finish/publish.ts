import { systemClock } from "../../core/clock.js";
import { FatalError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/failed-name.js";
import { findingStatuses } from "../../core/finding.js";
import { partPath } from "../../outputs/file-destination.js";
import { outputFault } from "../../outputs/output-fault.js";
import { verdicts } from "../../core/verdict.js";
import type { EncoderOptions } from "../../formats/types.js";
import type { Sink } from "../../outputs/types.js";
import type { OpenedSource } from "../../inputs/types.js";
import type { Checkpointer } from "../state/checkpointer.js";
import type { CountedWarning } from "../run/closing-warnings.js";
import { saveRecord } from "./finished-run.js";
import { manifestOf } from "./manifest.js";
import type { WrittenOutput } from "./manifest.js";
import type { OutputTarget, TextOutputTarget } from "../output/open-output.js";
import { auditOutput } from "./output-audit.js";
import type { Audit } from "./output-audit.js";
import type { StateFolder } from "../state/state-folder.js";
import type { Tally } from "../run/tally.js";
import { tooManyFailed } from "../run/row-limits.js";
import type { EnrichJob, Manifest } from "../types.js";
import type { WarehouseRun } from "../output/warehouse-run.js";

/** A run whose last row was written. */
export interface WrittenRun {
  readonly source: OpenedSource;
  readonly inputGrew: boolean;
  readonly target: OutputTarget;
  readonly encoder: EncoderOptions;
  readonly sink: Sink;
  /** Null where the output is text. */
  readonly warehouse: WarehouseRun | null;
  readonly tally: Tally;
  readonly checkpointer: Checkpointer;
  /** Null where the output is a stream. */
  readonly state: StateFolder | null;
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
  const checkpoint = await checkpointer.complete();
  for (const [message, count] of run.warnings) tally.warning(message, count);
  if (checkpoint === null || state === null) {
    const { bytes } = await sink.finish(suffix);
    return describe(job, run, { ...position, bytes, suffix }, audit);
  }
  const manifest = describe(job, run, { ...position, bytes: null, suffix }, audit);
  await state.markFinished({ checkpoint, manifest, suffix });
  await sink.finish(suffix);
  await saveRecord(job, target, manifest, suffix);
  return manifest;
}

function describe(
  job: EnrichJob,
  { source, inputGrew, target, tally, checkpointer }: WrittenRun,
  { suffix, ...written }: WrittenOutput & { readonly suffix: string },
  audit: Audit | null,
): Manifest {
  const clock = job.clock ?? systemClock;
  return manifestOf(job, {
    runId: checkpointer.runId,
    startedAt: checkpointer.startedAt,
    endedAt: new Date(clock.now()).toISOString(),
    seconds: checkpointer.seconds,
    resumed: checkpointer.resumed,
    inputBytes: source.bytesTotal ?? source.bytesRead(),
    inputGrew,
    reading: source.reading,
    target,
    suffix,
    written,
    audit,
    tally: tally.snapshot(),
  });
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
  const counted = findingStatuses.reduce((sum, status) => sum + tally.statuses[status], 0);
  const faults: string[] = [];
  if (tally.rows !== rowsRead) faults.push(`${rowsRead} rows read, ${tally.rows} written`);
  if (counted !== tally.rows) faults.push(`${tally.rows} rows written, ${counted} with a status`);
  if (audit !== null && audit.indicators !== indicators) {
    faults.push(`${indicators} indicators written, ${audit.indicators} in the file`);
  }
  if (audit !== null && audit.statuses !== null) {
    if (audit.rows !== tally.rows) {
      faults.push(`${tally.rows} rows written, ${audit.rows} in the output`);
    }
    for (const status of findingStatuses) {
      if (audit.statuses[status] !== tally.statuses[status]) {
        faults.push(
          `${tally.statuses[status]} rows ${status}, ${audit.statuses[status]} in the output`,
        );
      }
    }
  }
  for (const verdict of verdicts) {
    const [counted, found] = [tally.verdicts[verdict], audit?.verdicts?.[verdict]];
    if (found !== undefined && found !== counted) {
      faults.push(`${counted} rows with the verdict ${verdict}, ${found} in the output`);
    }
  }
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `the rows do not add up: ${faults.join("; ")}`, {
    hint: `what was written is in ${target.file === null ? target.name : partPath(target.file)}; if nothing else wrote there, please report this; --restart begins anew`,
  });
}
