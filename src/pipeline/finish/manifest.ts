import { systemClock } from "../../core/clock.js";
import { schemaVersion } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/make-folder.js";
import { readJsonFile, writeJsonFile } from "../../core/files/json-file.js";
import { programInfo } from "../../core/program.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { SinkPosition } from "../../outputs/types.js";
import { placeName } from "../../formats/columns/find-column.js";
import type { InputReading } from "../../formats/types.js";
import type { Audit } from "./output-audit.js";
import { manifestPath } from "../output/check-paths.js";
import type { WrittenRun } from "./publish.js";
import type { EnrichJob, Manifest, ReadingFacts } from "../types.js";

/** How a run that was written ends. */
export interface RunEnd {
  /** What was written, as the sink counted it. */
  readonly written: Pick<SinkPosition, "rows" | "indicators">;
  /** Of a stream; null where the audit knows, and for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** What was appended to the output's name. */
  readonly suffix: string;
  /** What the output was found to hold; null for a stream. */
  readonly audit: Audit | null;
}

/** The record of a run. */
export function manifestOf(
  job: EnrichJob,
  { source, inputGrew, target, checkpointer, ...run }: WrittenRun,
  { written, bytes, suffix, audit }: RunEnd,
): Manifest {
  const tally = run.tally.snapshot();
  const { clock = systemClock } = job;
  return {
    schema_version: schemaVersion,
    program: programInfo(),
    run_id: checkpointer.runId,
    command: job.command,
    input: {
      path: "path" in job.input ? job.input.path : null,
      ...readingFacts(source.reading),
      bytes: source.bytesTotal ?? source.bytesRead(),
      rows: tally.rows,
      grew_while_interrupted: inputGrew,
    },
    output: {
      path: target.base === null ? null : target.name + (target.file === null ? "" : suffix),
      format: target.format,
      bytes: audit === null ? bytes : audit.bytes,
      rows: audit?.rows ?? written.rows,
      sha256: audit?.sha256 ?? null,
      ...(written.indicators === undefined ? {} : { indicators: written.indicators }),
    },
    statuses: tally.statuses,
    verdicts: tally.verdicts,
    kinds: tally.kinds,
    requests: tally.requests,
    sources: tally.sources,
    unsupported: tally.unsupported,
    errors: tally.errors,
    tags: tally.tags,
    drift: tally.drift,
    warnings: tally.warnings,
    started_at: checkpointer.startedAt,
    ended_at: new Date(clock.now()).toISOString(),
    seconds: Math.round(checkpointer.seconds * 1000) / 1000,
    resumed: checkpointer.resumed,
    exit_reason: suffix === failedSuffix ? "too_many_failed" : "done",
  };
}

function readingFacts({ format, delimiter, header, item, kind }: InputReading): ReadingFacts {
  const { sample } = item;
  return {
    format,
    delimiter,
    header,
    item_column: item.name === "" ? placeName(item.index) : item.name,
    item_column_by: item.by,
    item_column_share: sample === null ? null : Math.round(sample.share * 1000) / 1000,
    kind_column: kind?.name ?? null,
    kind_column_by: kind?.by ?? null,
  };
}

/**
 * Writes the manifest beside an output; a reader finds the old or the new one.
 *
 * @param base path that the output's own files begin with
 * @throws FatalError `output_*`; a file that was there stays as it was
 */
export async function writeManifest(base: string, manifest: Manifest): Promise<void> {
  const path = manifestPath(base);
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}

/**
 * Reads the manifest beside an output; what it holds may be another program's.
 *
 * @param hint what to do where there is none
 * @throws UsageError `manifest_missing`, `manifest_unreadable`
 */
export async function readManifest(base: string, hint: string): Promise<Partial<Manifest>> {
  const path = manifestPath(base);
  let found: unknown;
  try {
    found = await readJsonFile(path);
  } catch (error) {
    throw new UsageError("manifest_unreadable", `cannot read ${path}`, { cause: error });
  }
  if (found === null) throw new UsageError("manifest_missing", `there is no ${path}`, { hint });
  return found as Partial<Manifest>;
}
