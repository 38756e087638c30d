import { schemaVersion } from "../../core/columns.js";
import { failedSuffix } from "../../core/files/failed-name.js";
import { writeJsonFile } from "../../core/files/json-file.js";
import { programInfo } from "../../core/program.js";
import { outputFault } from "../../outputs/output-fault.js";
import type { SinkPosition } from "../../outputs/types.js";
import { placeName } from "../../formats/columns/find-column.js";
import type { InputReading } from "../../formats/types.js";
import type { Audit } from "./output-audit.js";
import type { OutputTarget } from "../output/open-output.js";
import { manifestPath, outputBase } from "../output/paths.js";
import type { TallySnapshot } from "../run/tally.js";
import type { EnrichJob, Manifest, ReadingFacts } from "../types.js";

/** What was written, as the sink counted it. */
export type WrittenOutput = Pick<SinkPosition, "rows" | "indicators"> & {
  /** Null for a database, which holds more than this run. */
  readonly bytes: number | null;
};

/** What a run knows of itself when it is done. */
export interface RunFacts {
  readonly runId: string;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Seconds spent, in all processes of the run. */
  readonly seconds: number;
  readonly resumed: number;
  readonly inputBytes: number;
  readonly inputGrew: boolean;
  readonly reading: InputReading;
  readonly target: OutputTarget;
  readonly written: WrittenOutput;
  /** What was appended to the output's name. */
  readonly suffix: string;
  /** What the output was found to hold; null for a stream. */
  readonly audit: Audit | null;
  readonly tally: TallySnapshot;
}

/** The record of a run. */
export function manifestOf(job: EnrichJob, facts: RunFacts): Manifest {
  const { tally, target, written, suffix } = facts;
  return {
    schema_version: schemaVersion,
    program: programInfo(),
    run_id: facts.runId,
    command: job.command,
    input: {
      path: "path" in job.input ? job.input.path : null,
      ...readingFacts(facts.reading),
      bytes: facts.inputBytes,
      rows: tally.rows,
      grew_while_interrupted: facts.inputGrew,
    },
    output: {
      path: target.base === null ? null : target.name + (target.file === null ? "" : suffix),
      format: target.format,
      bytes: facts.audit === null ? written.bytes : facts.audit.bytes,
      rows: facts.audit?.rows ?? written.rows,
      sha256: facts.audit?.sha256 ?? null,
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
    started_at: facts.startedAt,
    ended_at: facts.endedAt,
    seconds: Math.round(facts.seconds * 1000) / 1000,
    resumed: facts.resumed,
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
 * Replaces the manifest beside the output of a run that has more to tell; a reader finds the old or
 * the new one. Of rows that went to stdout there is none.
 *
 * @param output as it was given
 * @throws FatalError `output_*`; the file stays as it was
 */
export async function rewriteManifest(output: string, manifest: Manifest): Promise<void> {
  if (manifest.output.path === null) return;
  const path = manifestPath(outputBase(output));
  await writeJsonFile(path, manifest).catch((error: unknown) => {
    throw outputFault(path, error);
  });
}
