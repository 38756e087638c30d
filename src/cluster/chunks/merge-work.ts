import { systemClock } from "../../core/clock.js";
import { UsageError } from "../../core/errors.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { isObjectAddress } from "../../s3/address.js";
import { openFileDestination, removePart } from "../../outputs/file-destination.js";
import type { Destination } from "../../outputs/types.js";
import { findWarehouse } from "../../outputs/registry.js";
import { endingOfRows } from "../../run/exit-reason.js";
import { endingOfTooMany, keepEarlier } from "../../run/finish/publish.js";
import { saveRecord } from "../../run/finish/finished-run.js";
import { notedPrefix, outputPlace } from "../../run/finish/manifest.js";
import { checkRunWords, hasRunWords } from "../../core/files/run-words.js";
import { namedSink } from "../../run/destination/choose-run.js";
import { realPath } from "../../core/files/real-path.js";
import { chooseOutput } from "../../run/destination/choose-output.js";
import { tooManyFailed } from "../../run/failure-limits.js";
import { timeWarning } from "../../run/counted-warning.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { allResults, unfinished } from "./all-results.js";
import type { ChunkFault, ChunkResult, ResultFile } from "./chunk-result.js";
import { TextJoin } from "./join-text.js";
import {
  auditMergedPart,
  checkCounts,
  finishJoined,
  type JoinedOutput,
  openJoined,
  openMerged,
  outputJoin,
  rejectsHeader,
  stageJoined,
} from "./merged-output.js";
import { runWarnings, startOfChunks, sumChunks, type SummedChunks } from "./merge-manifest.js";
import type { MergeJob } from "./merge-job.js";
import { localSettings, type OutputTarget } from "../../run/destination/output-target.js";
import { failedSuffix } from "../../core/files/output-names.js";

/**
 * Joins the results of all chunks into one output with one manifest.
 *
 * @throws FatalError `chunks_missing`, `rows_lost`, `output_*`; UsageError `merge_format`,
 *   `state_exists`, `output_locked`; as `chooseOutput`
 */
export async function mergeWork(given: MergeJob): Promise<Manifest> {
  const job = await namedMerge(given);
  const target = job.target ?? (await mergeTarget(job));
  try {
    const settings = localSettings(job.settings, target);
    const manifest = await mergeLocally({ ...job, settings }, target);
    target.upload?.clean();
    return manifest;
  } finally {
    target.upload?.cleanEmpty();
  }
}

/** Names the files after the run of which the chunks are parts. @throws UsageError `run_word` */
async function namedMerge(job: MergeJob): Promise<MergeJob> {
  const { plan, settings, work, signal } = job;
  checkRunWords("-o", settings.output);
  if (settings.rejects !== undefined) checkRunWords("--rejects", settings.rejects);
  if (![settings.output, settings.rejects].some(hasRunWords)) return job;
  const results = await allResults(work, plan, signal);
  const startedAt = startOfChunks(
    plan,
    results.map(({ manifest }) => manifest),
  );
  return { ...job, settings: namedSink(settings, { runId: plan.plan_id, startedAt }) };
}

async function mergeLocally(job: MergeJob, target: OutputTarget): Promise<Manifest> {
  const results = await allResults(job.work, job.plan, job.signal);
  if (target.base === null) return join(job, target, results, null);
  const { name, base } = target;
  const state = await openStateFolder(base, { resume: false, restart: false, name });
  try {
    return await join(job, target, results, state.path);
  } finally {
    await state.remove();
  }
}

/** The output, which must have the format of the chunks. */
async function mergeTarget({ plan, settings, work }: MergeJob): Promise<OutputTarget> {
  const { to, prefix, esIndex, esAction, esId } = plan.settings;
  const { output, rejects, mode, key } = settings;
  const text = to === "parquet" ? undefined : to;
  const warehouse = output === "-" ? null : findWarehouse(output);
  const found = detectSinkFormat(output).format;
  const isShape = found === "ndjson" && !["csv", "tsv"].includes(to);
  const fits =
    warehouse === null
      ? to !== "parquet" && (found === null || found === to || isShape)
      : to === "parquet" && warehouse.target.kind !== "data set";
  if (!fits) {
    const name = warehouse?.target.display ?? output;
    throw new UsageError("merge_format", `the chunks in ${work.name} are ${to}, ${name} is not`, {
      hint: "name a file of that format, or split again with --to",
    });
  }
  const sink = {
    output,
    unordered: false,
    to: text,
    rejects,
    prefix,
    esIndex,
    esAction,
    esId,
    formulaGuard: false,
    gzip: false,
    mode,
    key,
    onlyNew: false,
    raw: false,
    distinct: false,
  };
  return chooseOutput(sink, async () => plan.reading.format, plannedPaths(plan));
}

function plannedPaths({ input }: MergeJob["plan"]): readonly string[] {
  const isFile = input.table === undefined || isObjectAddress(input.path ?? "");
  const path = isFile ? input.path : input.absolute;
  return path === null ? [] : [path];
}

/** Joins all results into new files, and publishes those if everything adds up. */
async function join(
  job: MergeJob,
  target: OutputTarget,
  results: readonly ChunkResult[],
  stateFolder: string | null,
): Promise<Manifest> {
  const { plan, settings } = job;
  const rejects = settings.rejects === undefined ? null : realPath(settings.rejects);
  const opened: Destination[] = [];
  try {
    const publishing = await openMerged(job, target, stateFolder);
    const output = await openJoined(job, target, stateFolder);
    opened.push(output);
    const { join: joined, rows } = outputJoin(plan, target, output);
    await joinAll(job, results, joined, ({ output: of }) => of);
    if (rejects !== null) {
      const apart = await openFileDestination(rejects, null);
      opened.unshift(apart);
      const { gzip } = detectSinkFormat(rejects);
      const joinedRejects = new TextJoin({ destination: apart, header: rejectsHeader(plan), gzip });
      await joinAll(job, results, joinedRejects, ({ rejects: of }) => of);
    }
    const manifests = results.map(({ manifest }) => manifest);
    const stored = publishing?.publication.warnings ?? [];
    const warned = {
      ...plan,
      warnings: { ...plan.warnings, ...Object.fromEntries(stored.map((message) => [message, 1])) },
    };
    const summed = sumChunks(warned, manifests, job.resumed, rows?.leftOut);
    const suffix = tooManyFailed(settings.maxFailed, summed) ? failedSuffix : "";
    const staged = publishing && (await stageJoined(publishing, output, writtenRows(summed)));
    const audit = staged
      ? await staged.prepare(suffix)
      : target.file === null
        ? null
        : await auditMergedPart(target.name, target.file, output);
    checkCounts(summed, audit, target);
    const manifest = await publish(job, target, summed, { audit, suffix, opened, staged });
    const times = timeWarning(summed);
    const found = runWarnings(plan, summed.unsupported);
    const messages = [...stored, ...found, ...(times === null ? [] : [times])];
    for (const message of messages) job.onWarning?.(message);
    return manifest;
  } catch (error) {
    for (const each of opened) await each.abandon();
    for (const path of [target.file, rejects]) if (path !== null) await removePart(path);
    throw error;
  }
}

/** Joins one file of each result. @throws FatalError `chunks_missing`, naming the damaged ones */
async function joinAll(
  { work, plan, signal }: MergeJob,
  results: readonly ChunkResult[],
  joined: TextJoin,
  fileOf: (result: ChunkResult) => ResultFile,
): Promise<void> {
  const faults: ChunkFault[] = [];
  await joined.begin();
  for (const result of results) {
    signal.throwIfAborted();
    const file = fileOf(result);
    try {
      const path = await work.fetch(file.file, signal);
      const what = path === null ? `${file.file} is missing` : await joined.add(path, file);
      if (what !== null) faults.push({ chunk: result.chunk, what });
    } finally {
      await work.clear(file.file);
    }
  }
  await work.close();
  if (faults.length > 0) throw unfinished(work, plan, faults);
  await joined.end();
}

function writtenRows({ input: { rows }, left_out }: SummedChunks): number {
  return rows - (left_out === undefined ? 0 : left_out.distinct + left_out.only);
}

/** Gives the files their names and writes the manifest beside the output. */
async function publish(
  job: MergeJob,
  target: OutputTarget,
  summed: SummedChunks,
  { audit, suffix, opened, staged }: JoinedOutput,
): Promise<Manifest> {
  const { clock = systemClock, settings, command } = job;
  await keepEarlier(target, staged, summed.input.rows);
  const { schema_version, program, run_id, input, ...counts } = summed;
  const manifest: Manifest = {
    schema_version,
    program,
    run_id,
    command,
    input,
    output: {
      ...outputPlace(target, suffix),
      bytes: audit === null ? (opened.at(-1)?.length ?? null) : audit.bytes,
      rows: audit?.rows ?? writtenRows(summed),
      sha256: audit?.sha256 ?? null,
      ...(audit?.withoutKey === undefined ? {} : { without_key: audit.withoutKey }),
      ...notedPrefix(job.plan.settings.prefix),
    },
    ...counts,
    ended_at: new Date(clock.now()).toISOString(),
    ...(suffix === "" ? endingOfRows(settings.failOn, summed.statuses) : endingOfTooMany),
  };
  await finishJoined(opened, staged, suffix, manifest);
  const inputPath = job.plan.input.absolute;
  const source = inputPath === null ? { stream: null } : { path: inputPath };
  const { signal, onWarning } = job;
  await saveRecord(
    { settings: { output: settings }, input: source, signal, onWarning },
    target,
    manifest,
    suffix,
  );
  return manifest;
}
