import type { OpenRun } from "../open-run.js";
import type {
  Manifest,
  RunEnding,
  InputRecord,
  ReadingFacts,
  SharedFacts,
} from "../../../core/manifest.js";
import { systemClock } from "../../../core/clock.js";
import { schemaVersion } from "../../../core/columns.js";
import { programInfo } from "../../../core/program.js";
import type { WrittenOutput } from "../../../io/output/types.js";
import { defaultPrefix } from "../../../io/output/options.js";
import type { Checkpointer } from "../state/checkpoint.js";
import type { OpenedSource } from "../../../io/input/types.js";
import { unknownEnding } from "../ending.js";
import { resultOf } from "../destination/choose-output.js";
import { linesSkipped } from "../../../io/formats/csv/find-preamble.js";
import { positionalName } from "../../../io/formats/columns/name-columns.js";

/** What a manifest tells of. */
type StartedRun = Pick<OpenRun, "job" | "source" | "inputGrew" | "target" | "tally" | "runId"> & {
  readonly checkpointer: Checkpointer;
};

/** The result of a run whose rows are written. */
interface RunEnd {
  /** Bytes written to a stream; null for anything else. */
  readonly bytes: number | null;
  readonly suffix: string;
  readonly ending: RunEnding;
}

/** Builds the manifest of a run. */
export function manifestOf(
  { job, source, inputGrew, target, checkpointer, tally, runId }: StartedRun,
  { bytes, suffix, ending }: RunEnd,
): Manifest {
  const { rows, unjournalled: _, left_out, ...counts } = tally.snapshot();
  const { clock = systemClock } = job;
  const { input, output, run: how } = job.settings;
  const copyOf = "path" in job.input ? job.input.copyOf : undefined;
  const inputs = inputRecords(source, rows);
  const skipped = "inputs" in job.input ? (job.input.skipped ?? []) : [];
  const left = target.base === null ? null : resultOf(target, target.base, suffix);
  return {
    schema_version: schemaVersion,
    program: programInfo(),
    run_id: runId,
    command: job.command,
    input: {
      path: copyOf?.name ?? ("path" in job.input ? job.input.path : null),
      ...(inputs === undefined ? readingFacts(source) : sharedFacts(inputs)),
      bytes: source.bytesTotal ?? source.bytesRead(),
      rows,
      grew_while_interrupted: inputGrew,
    },
    ...(inputs === undefined ? {} : { inputs }),
    ...(skipped.length === 0
      ? {}
      : { skipped_inputs: skipped.map(({ path, reason }) => ({ path, reason })) }),
    output: {
      path: left?.path ?? null,
      format: left?.format ?? target.format,
      bytes,
      rows: tally.written,
      sha256: null,
      ...(output.prefix === defaultPrefix ? {} : { prefix: output.prefix }),
    },
    ...(output.distinct || output.only ? { left_out } : {}),
    ...(how.limit === undefined ? {} : { sampled: how.limit }),
    ...counts,
    ...(input.maxTlp === undefined
      ? {}
      : { tlp: { max: input.maxTlp, rows: counts.unsupported["tlp"] ?? 0 } }),
    started_at: checkpointer.startedAt,
    ended_at: new Date(clock.now()).toISOString(),
    seconds: Math.round(checkpointer.seconds * 1000) / 1000,
    resumed: checkpointer.resumed,
    ...ending,
  };
}

/** The manifest of a run whose rows are published. */
export function withWritten(
  manifest: Manifest,
  { bytes, sha256, indicators, withoutKey }: WrittenOutput,
): Manifest {
  const output = {
    ...manifest.output,
    bytes,
    sha256,
    ...(indicators === undefined ? {} : { indicators }),
    ...(withoutKey === undefined ? {} : { without_key: withoutKey }),
  };
  return { ...manifest, output };
}

/** The manifest of a run so far, as a killed process leaves it behind. */
export function manifestSoFar(run: StartedRun): Manifest {
  return manifestOf(run, { bytes: null, suffix: "", ending: unknownEnding });
}

/** One record per file of several inputs; undefined for a single input. */
function inputRecords(
  source: Pick<OpenedSource, "files">,
  rows: number,
): readonly InputRecord[] | undefined {
  const files = source.files?.();
  return files?.map(({ name, reading, kind, start, input, bytesTotal }, index) => {
    // The reader is ahead of the rows that are written.
    const end = Math.min(files[index + 1]?.start?.row ?? rows, rows);
    const read = Math.max(0, end - (start?.row ?? rows));
    const counts = { bytes: bytesTotal ?? input?.bytes ?? 0, rows: read };
    return Object.assign({ path: name }, readingFacts({ reading, kind }), counts);
  });
}

/** What all inputs have in common; null where they differ, or where only some have the fact. */
export function sharedFacts(inputs: readonly InputRecord[]): SharedFacts {
  const own = new Set(["path", "bytes", "rows"]);
  const names = new Set(inputs.flatMap((input) => Object.keys(input) as (keyof ReadingFacts)[]));
  const shared = [...names].flatMap((name) => {
    if (own.has(name)) return [];
    const value = inputs[0]?.[name];
    return [[name, inputs.every((input) => input[name] === value) ? value : null] as const];
  });
  return Object.fromEntries(shared) as SharedFacts;
}

function readingFacts({
  reading,
  kind: table,
}: Pick<OpenedSource, "reading" | "kind">): ReadingFacts {
  const { format, delimiter, header, items, kind } = reading;
  const skippedLines = linesSkipped(reading);
  const [{ by, sample }] = items;
  return {
    format: table ?? format,
    delimiter: table === undefined ? delimiter : null,
    header,
    ...(skippedLines === 0 ? {} : { skipped_lines: skippedLines }),
    item_column: items
      .map(({ name, index }) => (name === "" ? positionalName(index) : name))
      .join(","),
    item_column_by: by,
    item_column_share: sample === null ? null : Math.round(sample.share * 1000) / 1000,
    kind_column: kind?.name ?? null,
    kind_column_by: kind?.by ?? null,
  };
}
