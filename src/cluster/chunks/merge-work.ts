import { systemClock } from "../../core/clock.js";
import { UsageError } from "../../core/errors.js";
import { failedSuffix } from "../../core/files/output-names.js";
import { realPath } from "../../core/files/real-path.js";
import { checkRunWords } from "../../core/files/run-words.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { detectSinkFormat } from "../../formats/registry.js";
import { openFileDestination, removePart } from "../../outputs/file-destination.js";
import type { Publication } from "../../outputs/publication.js";
import { stageUpTo } from "../../outputs/publish/staged-sink.js";
import { findWarehouse } from "../../outputs/registry.js";
import type { Stage } from "../../outputs/stage.js";
import type { Destination } from "../../outputs/types.js";
import { timeWarning } from "../../run/counted-warning.js";
import { chooseOutput } from "../../run/destination/choose-output.js";
import { namedSink } from "../../run/destination/choose-run.js";
import { localSettings, type OutputTarget } from "../../run/destination/output-target.js";
import { endingOfRows } from "../../run/exit-reason.js";
import { tooManyFailed } from "../../run/failure-limits.js";
import { saveRecord } from "../../run/finish/finished-run.js";
import { notedPrefix, outputPlace, type RunEnd } from "../../run/finish/manifest.js";
import { endingOfTooMany, keepEarlier } from "../../run/finish/publish.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import { isObjectAddress } from "../../s3/address.js";
import { allResults, type ChunkResult } from "./chunk-result.js";
import { runWarnings, startOfChunks, sumChunks, type SummedChunks } from "./merge-manifest.js";
import {
  auditMerged,
  checkCounts,
  joinFiles,
  type MergeJob,
  openJoined,
  openMerged,
  rejectsHeader,
  rowsHeader,
} from "./merged-output.js";
import { mergedRows } from "./merged-rows.js";
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
  const off = { unordered: false, onlyNew: false, raw: false, distinct: false } as const;
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
    const header = rowsHeader(plan, target);
    const rows = mergedRows(plan, header);
    const whole = { destination: output, gzip: target.gzip, edit: rows?.edit };
    await joinFiles(job, results, "output", { ...whole, header: header ?? "" });
    if (rejects !== null) {
      const destination = await openFileDestination(rejects, null);
      opened.unshift(destination);
      const { gzip } = detectSinkFormat(rejects);
      await joinFiles(job, results, "rejects", { destination, gzip, header: rejectsHeader(plan) });
    }
    const stored = publication?.warnings ?? [];
    const manifests = results.map(({ manifest }) => manifest);
    const summed = sumChunks(plan, manifests, job.resumed, { stored, leftOut: rows?.leftOut });
    const stage = publication && (await stageOf(publication, stateFolder, output, summed));
    const staged = publication && stage && { publication, stage };
    const manifest = await publish(job, target, summed, { output, opened, staged });
    const times = timeWarning(summed);
    const found = runWarnings(plan, summed.unsupported);
    for (const message of [...stored, ...found, times ?? []].flat()) onWarning?.(message);
    return manifest;
  } catch (error) {
    for (const each of opened) await each.abandon();
    for (const path of [target.file, rejects]) if (path !== null) await removePart(path);
    throw error;
  }
}

async function stageOf(
  publication: Publication,
  stateFolder: string,
  joined: Destination,
  summed: SummedChunks,
): Promise<Stage> {
  await joined.sync();
  const checksum = joined.checksum();
  const position = { length: joined.length, rows: writtenRows(summed) };
  return stageUpTo(publication, stateFolder, { ...position, ...(checksum && { checksum }) });
}

function writtenRows({ input: { rows }, left_out }: SummedChunks): number {
  return rows - (left_out === undefined ? 0 : left_out.distinct + left_out.only);
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
  target: OutputTarget,
  summed: SummedChunks,
  { output, opened, staged }: JoinedRows,
): Promise<Manifest> {
  const { plan, settings, signal, onWarning } = job;
  const suffix = tooManyFailed(settings.maxFailed, summed) ? failedSuffix : "";
  const audit =
    staged === null
      ? await auditMerged(target, output)
      : await staged.publication.prepare(staged.stage, suffix);
  checkCounts(target.name, summed, audit);
  await keepEarlier(target, staged?.publication ?? null, summed.input.rows);
  const manifest = manifestOf(job, target, summed, { suffix, audit, bytes: output.length });
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

function manifestOf(
  { command, plan, settings, clock = systemClock }: MergeJob,
  target: OutputTarget,
  summed: SummedChunks,
  { suffix, audit, bytes }: Pick<RunEnd, "suffix" | "audit" | "bytes">,
): Manifest {
  const { schema_version, program, run_id, input, ...counts } = summed;
  return {
    schema_version,
    program,
    run_id,
    command,
    input,
    output: {
      ...outputPlace(target, suffix),
      bytes: audit === null ? bytes : audit.bytes,
      rows: audit?.rows ?? writtenRows(summed),
      sha256: audit?.sha256 ?? null,
      ...(audit?.withoutKey === undefined ? {} : { without_key: audit.withoutKey }),
      ...notedPrefix(plan.settings.prefix),
    },
    ...counts,
    ended_at: new Date(clock.now()).toISOString(),
    ...(suffix === "" ? endingOfRows(settings.failOn, summed.statuses) : endingOfTooMany),
  };
}
