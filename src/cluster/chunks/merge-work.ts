import { FatalError, UsageError } from "../../core/errors.js";
import { realPath } from "../../core/files/real-path.js";
import { checkRunWords } from "../../core/files/output-names.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { openFileDestination } from "../../outputs/file-destination.js";
import { readWritten, removePart } from "../../outputs/part-file.js";
import type { Publication } from "../../outputs/publication.js";
import { stageUpTo } from "../../outputs/publish/staged-sink.js";
import { findWarehouse } from "../../outputs/registry.js";
import type { Stage } from "../../outputs/stage.js";
import type { Destination, SinkPosition, WrittenOutput } from "../../outputs/types.js";
import { chooseOutput } from "../../run/destination/choose-output.js";
import { namedSink } from "../../run/destination/choose-run.js";
import { localSettings, type OutputTarget } from "../../run/destination/output-target.js";
import { saveRecord } from "../../run/finish/finished-run.js";
import { manifestOf, type StartedRun } from "../../run/finish/manifest.js";
import { refusalOf } from "../../run/failure-limits.js";
import { earlierRows } from "../../run/finish/earlier-rows.js";
import { countFaults, endOfRows } from "../../run/finish/publish.js";
import { closingWarnings } from "../../run/run-rows.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import type { Tally } from "../../run/tally.js";
import { isObjectAddress } from "../../s3/address.js";
import { allResults, type ChunkResult } from "./chunk-result.js";
import {
  joinFiles,
  mergedRows,
  type MergeJob,
  openJoined,
  openMerged,
  rejectsHeader,
  rowsHeader,
} from "./merged-output.js";
import { plannedJob, runOfChunks, startOfChunks } from "./merged-run.js";
import type { WorkPlan } from "./work-plan.js";

/**
 * Joins the results of all chunks into one output with one manifest.
 *
 * @throws FatalError `chunks_missing`, `rows_lost`, `output_*`; UsageError `run_word`,
 *   `merge_format`, `state_exists`, `output_locked`; as `chooseOutput`
 */
export async function mergeWork(given: MergeJob): Promise<Manifest> {
  const { plan, work, signal, settings } = given;
  checkRunWords("-o", settings.output);
  if (settings.rejects !== undefined) checkRunWords("--rejects", settings.rejects);
  if (given.target === undefined) refuseOtherFormat(given);
  const results = await allResults(work, plan, signal);
  const manifests = results.map(({ manifest }) => manifest);
  const start = { runId: plan.plan_id, startedAt: startOfChunks(plan, manifests) };
  const named = { ...given, settings: namedSink(settings, start) };
  const target = given.target ?? (await mergeTarget(named));
  const job = { ...named, settings: localSettings(named.settings, target) };
  try {
    const manifest = await mergeInto(job, target, results);
    target.upload?.clean();
    return manifest;
  } finally {
    target.upload?.cleanEmpty();
  }
}

/** @throws UsageError `merge_format` unless the output has the format of the chunks */
function refuseOtherFormat({ plan, settings: { output }, work }: MergeJob): void {
  const { to } = plan.settings;
  const warehouse = output === "-" ? null : findWarehouse(output);
  const found = detectSinkFormat(output).format;
  const isShape = found === "ndjson" && !["csv", "tsv"].includes(to);
  const fits =
    warehouse === null
      ? to !== "parquet" && (found === null || found === to || isShape)
      : to === "parquet" && warehouse.target.kind !== "data set";
  if (fits) return;
  const name = warehouse?.target.display ?? output;
  throw new UsageError("merge_format", `the chunks in ${work.name} are ${to}, ${name} is not`, {
    hint: "name a file of that format, or split again with --to",
  });
}

function mergeTarget({ plan, settings }: MergeJob): Promise<OutputTarget> {
  const { to, prefix, esIndex, esAction, esId } = plan.settings;
  const { output, rejects, mode, key } = settings;
  const planned = { to: to === "parquet" ? undefined : to, prefix, esIndex, esAction, esId };
  // The chunks have what these decide.
  const off = { raw: false, distinct: false } as const;
  const sink = { ...planned, output, rejects, mode, key, ...off, formulaGuard: false, gzip: false };
  return chooseOutput(sink, async () => plan.reading.format, plannedPaths(plan));
}

function plannedPaths({ input }: WorkPlan): readonly string[] {
  const isFile = input.table === undefined || isObjectAddress(input.path ?? "");
  const path = isFile ? input.path : input.absolute;
  return path === null ? [] : [path];
}

async function mergeInto(
  job: MergeJob,
  target: OutputTarget,
  results: readonly ChunkResult[],
): Promise<Manifest> {
  const { name, base } = target;
  if (base === null) return join(job, target, results, "");
  const state = await openStateFolder(base, { resume: false, restart: false, name });
  try {
    return await join(job, target, results, state.path);
  } finally {
    await state.remove();
  }
}

/** Joins all results into new files, and publishes those if everything adds up. */
async function join(
  job: MergeJob,
  target: OutputTarget,
  results: readonly ChunkResult[],
  stateFolder: string,
): Promise<Manifest> {
  const { plan, settings, onWarning } = job;
  const rejects = settings.rejects === undefined ? null : realPath(settings.rejects);
  const opened: Destination[] = [];
  try {
    const publication = await openMerged(job, target, stateFolder);
    const output = await openJoined(job, target, stateFolder);
    opened.push(output);
    const manifests = results.map(({ manifest }) => manifest);
    const run = runOfChunks(plan, manifests, target, job.resumed);
    const header = rowsHeader(plan, target);
    const edit = mergedRows(plan, header, run.tally);
    const whole = { destination: output, gzip: target.gzip, edit };
    await joinFiles(job, results, "output", { ...whole, header: header ?? "" });
    if (rejects !== null) {
      const destination = await openFileDestination(rejects, null);
      opened.unshift(destination);
      const { gzip } = detectSinkFormat(rejects);
      await joinFiles(job, results, "rejects", { destination, gzip, header: rejectsHeader(plan) });
    }
    const warned = { onWarning, settings: { output: { columns: undefined } } };
    const source = { reading: plan.reading, warnings: new Map(Object.entries(plan.warnings)) };
    const stored = publication?.warnings ?? [];
    const warnings = closingWarnings(warned, source, stored, run.tally);
    for (const [message, count] of warnings) run.tally.warning(message, count);
    const stage =
      publication && stageUpTo(publication, stateFolder, await positionOf(output, run.tally));
    return await publish(job, run, { output, opened, staged: stage && { publication, stage } });
  } catch (error) {
    for (const each of opened) await each.abandon();
    for (const path of [target.file, rejects]) if (path !== null) await removePart(path);
    throw error;
  }
}

async function positionOf(joined: Destination, { written: rows }: Tally): Promise<SinkPosition> {
  await joined.sync();
  const checksum = joined.checksum();
  return { length: joined.length, rows, ...(checksum && { checksum }) };
}

/** The joined rows of all chunks. */
interface JoinedRows {
  readonly output: Destination;
  /** The files, the rows last. */
  readonly opened: readonly Destination[];
  /** Null for text. */
  readonly staged: { readonly publication: Publication; readonly stage: Stage } | null;
}

/** Gives the files their names, publishes staged rows, and writes the manifest beside the output. */
async function publish(
  job: MergeJob,
  run: StartedRun,
  { output, opened, staged }: JoinedRows,
): Promise<Manifest> {
  const { plan, settings, signal, command, clock, onWarning } = job;
  const { target, tally } = run;
  const earlier = await earlierRows(target, staged?.publication ?? null);
  const refusal = refusalOf(settings, tally.snapshot(), earlier);
  const { suffix, ending } = endOfRows(refusal, settings.failOn, tally);
  const written =
    staged === null
      ? await writtenFile(target, output)
      : await staged.publication.prepare(staged.stage, suffix);
  checkCounts(plan, run, written);
  const planned = plannedJob(plan);
  const bytes = output.length;
  const manifest = manifestOf({ ...planned, command, clock }, run, {
    bytes,
    suffix,
    written,
    ending,
  });
  for (const each of opened) if (staged === null || each !== output) await each.finish(suffix);
  if (staged !== null) {
    await staged.publication.commit(staged.stage, suffix, manifest);
    await output.abandon();
  }
  const { absolute } = plan.input;
  const input = absolute === null ? { stream: null } : { path: absolute };
  const recorded = { settings: { output: settings }, input, signal, onWarning };
  await saveRecord(recorded, target, manifest, suffix);
  return manifest;
}

/** Compares the joined text with what was written; null for a stream. */
async function writtenFile(
  { file }: OutputTarget,
  written: Destination,
): Promise<WrittenOutput | null> {
  if (file === null) return null;
  const position = { length: written.length, checksum: written.checksum() };
  return { ...(await readWritten(file, position)), rows: null };
}

/** Rows planned = rows of all chunks = rows in the output. */
function checkCounts(
  plan: WorkPlan,
  { target, tally }: StartedRun,
  written: WrittenOutput | null,
): void {
  const faults = countFaults(plan.input.rows, tally, [written?.rows ?? tally.written]);
  if (faults.length === 0) return;
  const what = `row counts of ${target.name} do not match: ${faults.join("; ")}`;
  throw new FatalError("rows_lost", what, {
    hint: "the chunks are intact; please report this as a bug",
  });
}
