import { schemaVersion } from "../../core/columns.js";
import { failedSuffix } from "../../core/files/output-names.js";
import { isRefusal, type Manifest, type RunEnding } from "../../core/manifest.js";
import { programInfo } from "../../core/program.js";
import { positionalName } from "../../io/formats/columns/name-columns.js";
import type { OpenedSource } from "../../io/input/types.js";
import { defaultPrefix } from "../../io/output/options.js";
import type { SinkPosition } from "../../io/output/types.js";
import type { OpenRun } from "./open-run.js";
import { saveUnfinished } from "./state/state-folder.js";

/** A checkpoint is due after this time or this many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

/** Time between two records of an unfinished run, in milliseconds. A kill loses no more of it. */
const recordMs = 5_000;

/** A run whose progress is saved. */
export type SavedRun = ReturnType<typeof savedRun>;

/** Saves the progress of a run, at regular intervals and never ahead of what is durable. */
export function savedRun(run: OpenRun) {
  const { job, before, clock, tally, state, sink, source, runId, fingerprint } = run;
  const begunAt = clock.monotonic();
  let saved = { at: begunAt, rows: tally.rows };
  let recordedAt = Number.NEGATIVE_INFINITY;
  const startedAt = before?.startedAt ?? job.startedAt ?? new Date(clock.now()).toISOString();
  const resumed = before === null ? 0 : before.resumed + 1;
  const own = {
    ...run,
    startedAt,
    resumed,
    /** Duration of the run in seconds, including the time before an interruption. */
    seconds: () => (before?.seconds ?? 0) + (clock.monotonic() - begunAt) / 1000,
    /** Makes the rows so far durable and saves a checkpoint, if the state of the run is kept. */
    async save(): Promise<SinkPosition> {
      const position = await sink.checkpoint();
      if (!state.isKept) return position;
      const { columns, types, reading } = source;
      const [input, files] = [source.checksum(), source.files?.()];
      await state.save({
        runId,
        startedAt,
        seconds: own.seconds(),
        resumed,
        fingerprint,
        answers: { last: state.journal.last, earlier: state.earlier },
        source: { row: tally.rows, columns, types, reading, input, files },
        sink: position,
        tally: tally.snapshot(),
      });
      saved = { at: clock.monotonic(), rows: tally.rows };
      if (saved.at - recordedAt >= recordMs) {
        recordedAt = saved.at;
        await saveUnfinished(state.path, manifestOf(own));
      }
      return position;
    },
    /** Saves a checkpoint when one is due, or when `last` is true. */
    async written(last: boolean): Promise<void> {
      if (last) tally.settle();
      const isDue = clock.monotonic() - saved.at >= due.ms || tally.rows - saved.rows >= due.rows;
      if (state.isKept && (last || isDue)) await own.save();
    },
  };
  return own;
}

/** Appended to the names of what a run writes that is refused. */
export function suffixOf({ exit_reason }: Pick<Manifest, "exit_reason">): string {
  return isRefusal(exit_reason) ? failedSuffix : "";
}

/** Ending of a run without an end: what a killed process leaves behind. */
const noEnding: RunEnding = { exit_reason: "interrupted", exit_code: null, resumable: true };

/**
 * Builds the manifest of a run.
 *
 * @param bytes those written to a stream
 */
export function manifestOf(
  run: SavedRun,
  ending: RunEnding = noEnding,
  bytes: number | null = null,
): Manifest {
  const { job, source, inputGrew, publisher, tally, runId, clock } = run;
  const { rows, unjournalled: _, left_out, ...counts } = tally.snapshot();
  const { input, output, run: how } = job.settings;
  const copyOf = "path" in job.input ? job.input.copyOf : undefined;
  const inputs = inputRecords(source, rows);
  const skipped = "inputs" in job.input ? job.input.skipped : undefined;
  const { path, format } = publisher.describe(suffixOf(ending));
  return {
    schema_version: schemaVersion,
    program: programInfo(),
    run_id: runId,
    command: job.command,
    input: {
      path: copyOf?.name ?? ("path" in job.input ? job.input.path : null),
      ...(inputs === undefined && readingFacts(source)),
      bytes: source.bytesTotal ?? source.bytesRead(),
      rows,
      grew_while_interrupted: inputGrew,
    },
    inputs,
    skipped_inputs: skipped?.[0] && skipped.map(({ path, reason }) => ({ path, reason })),
    output: {
      path,
      format,
      bytes,
      rows: tally.written,
      sha256: null,
      prefix: output.prefix === defaultPrefix ? undefined : output.prefix,
    },
    left_out: output.distinct || output.only ? left_out : undefined,
    sampled: how.limit,
    ...counts,
    tlp: input.maxTlp && { max: input.maxTlp, rows: counts.unsupported["tlp"] ?? 0 },
    started_at: run.startedAt,
    ended_at: new Date(clock.now()).toISOString(),
    seconds: Math.round(run.seconds() * 1000) / 1000,
    resumed: run.resumed,
    ...ending,
  };
}

/** One record per file of several inputs; undefined for a single input. */
function inputRecords(source: Pick<OpenedSource, "files">, rows: number): Manifest["inputs"] {
  const files = source.files?.();
  return files?.map(({ name, reading, kind, start, input, bytesTotal }, index) => {
    // The reader is ahead of the rows that are written.
    const end = Math.min(files[index + 1]?.start ?? rows, rows);
    const read = Math.max(0, end - (start ?? rows));
    const counts = { bytes: bytesTotal ?? input?.bytes ?? 0, rows: read };
    return Object.assign({ path: name }, readingFacts({ reading, kind }), counts);
  });
}

function readingFacts({ reading, kind: table }: Pick<OpenedSource, "reading" | "kind">) {
  const { format, delimiter, header, items, kind, skipped } = reading;
  const [{ by, sample }] = items;
  return {
    format: table ?? format,
    delimiter: table === undefined ? delimiter : null,
    header,
    ...(skipped && { skipped_lines: skipped.lines }),
    item_column: items
      .map(({ name, index }) => (name === "" ? positionalName(index) : name))
      .join(","),
    item_column_by: by,
    item_column_share: sample === null ? null : Math.round(sample.share * 1000) / 1000,
    kind_column: kind?.name ?? null,
    kind_column_by: kind?.by ?? null,
  };
}
