import { rm } from "node:fs/promises";
import { schemaVersion } from "../../../core/columns.js";
import { FatalError, startOver } from "../../../core/errors.js";
import { failedSuffix, manifestPath } from "../../../core/files/output-names.js";
import { findingStatuses } from "../../../core/finding.js";
import { isRefusal, type Manifest, type RunEnding } from "../../../core/manifest.js";
import { inputPaths, type OpenedSource } from "../../../io/input/types.js";
import { storedManifest, writeManifest } from "../../../io/output/manifest-file.js";
import { partPath, type SinkPosition } from "../../../io/output/part-file.js";
import type { Publisher, WrittenOutput } from "../../../io/output/publisher.js";
import { type Stage, stageUpTo } from "../../../io/output/stage.js";
import type { closingWarnings } from "../warnings.js";
import { isObjectAddress } from "../../../io/s3/address.js";
import { onlySpelling } from "../destination/choose-output.js";
import { exitCodeOfRun, exitCodes } from "../ending.js";
import { refusalOf } from "../failure-limits.js";
import { programInfo } from "../../../core/program.js";
import { positionalName } from "../../../io/formats/columns/name-columns.js";
import { defaultPrefix } from "../../../io/output/options.js";
import type { OpenRun, RunPlace } from "../open-run.js";
import { saveUnfinished } from "../state/state-folder.js";

/** A checkpoint is due after this time or this many rows, whichever comes first. */
const due = { ms: 1_000, rows: 5_000 };

/** Time between two records of an unfinished run, in milliseconds. A kill loses no more of it. */
const recordMs = 5_000;

/** A run whose progress is saved. */
type SavedRun = ReturnType<typeof savedRun>;

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
    async written(this: void, last: boolean): Promise<void> {
      if (last) tally.settle();
      const isDue = clock.monotonic() - saved.at >= due.ms || tally.rows - saved.rows >= due.rows;
      if (state.isKept && (last || isDue)) await own.save();
    },
  };
  return own;
}

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
