import { FatalError } from "../core/errors.js";
import { findingStatuses } from "../core/finding.js";
import { partPath } from "../sinks/file-destination.js";
import { outputFault } from "../sinks/output-fault.js";
import { statusPath } from "../sinks/status-path.js";
import type { EncoderOptions, Sink } from "../sinks/types.js";
import type { OpenedSource } from "../sources/types.js";
import type { Checkpointer } from "./checkpointer.js";
import { writeJsonFile } from "../core/json-file.js";
import { manifestOf, manifestPath } from "./manifest.js";
import type { OutputTarget, TextOutputTarget } from "./open-output.js";
import { auditOutput } from "./output-audit.js";
import type { Audit } from "./output-audit.js";
import type { Tally } from "./tally.js";
import type { EnrichJob, Manifest } from "./types.js";
import type { WarehouseRun } from "./warehouse-run.js";

export interface FinishedRun {
  readonly source: OpenedSource;
  readonly inputGrew: boolean;
  readonly target: OutputTarget;
  readonly encoder: EncoderOptions;
  readonly sink: Sink;
  /** Null where the output is text. */
  readonly warehouse: WarehouseRun | null;
  readonly tally: Tally;
  readonly checkpointer: Checkpointer;
  /** Rows that the source gave, those before an interruption included. */
  readonly rowsRead: number;
}

/**
 * Ends a run: checks that what is in the file is what was counted, gives the file its name and
 * writes the manifest beside it.
 *
 * @throws FatalError `rows_lost` when the counts do not add up; the output keeps its `.part` name
 */
export async function publish(job: EnrichJob, finished: FinishedRun): Promise<Manifest> {
  const { target, sink, tally, checkpointer, source } = finished;
  const { indicators } = await sink.checkpoint();
  await sink.end?.();
  const audit = await auditTarget(finished);
  addUp(finished, audit, indicators);
  await checkpointer.complete();
  const result = await sink.finish();
  const clock = job.clock ?? { now: () => Date.now() };
  const manifest = manifestOf(job, {
    runId: checkpointer.runId,
    startedAt: checkpointer.startedAt,
    endedAt: new Date(clock.now()).toISOString(),
    seconds: checkpointer.seconds,
    resumed: checkpointer.resumed,
    inputBytes: source.bytesTotal ?? source.bytesRead(),
    inputGrew: finished.inputGrew,
    reading: source.reading,
    target,
    result,
    audit,
    tally: tally.snapshot(),
  });
  if (target.base !== null) {
    const path = manifestPath(target.base);
    await writeJsonFile(path, manifest).catch((error: unknown) => {
      throw outputFault(path, error);
    });
  }
  return manifest;
}

async function auditTarget(finished: FinishedRun): Promise<Audit | null> {
  const { target, warehouse } = finished;
  if (target.warehouse !== null) return warehouse?.audit() ?? null;
  return target.file === null ? null : auditText(partPath(target.file), target, finished);
}

async function auditText(
  path: string,
  target: TextOutputTarget,
  { encoder }: FinishedRun,
): Promise<Audit> {
  try {
    return await auditOutput(path, {
      format: target.format,
      gzip: target.gzip,
      inputColumns: encoder.columns.length,
      statusPath: statusPath(target.format, encoder),
    });
  } catch (error) {
    throw error instanceof FatalError ? error : outputFault(path, error);
  }
}

/**
 * Rows read = rows written = sum of the statuses, in memory and in the file. Of a bundle, which does
 * not hold its rows one by one, the indicators are held against those that were written.
 */
function addUp(
  { rowsRead, tally, target }: FinishedRun,
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
  if (faults.length === 0) return;
  throw new FatalError("rows_lost", `the rows do not add up: ${faults.join("; ")}`, {
    hint: `what was written is in ${target.file === null ? target.name : partPath(target.file)}; if nothing else wrote there, please report this; --restart begins anew`,
  });
}
