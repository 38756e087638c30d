import { manifestPath } from "../../core/files/output-names.js";
import { randomUUID } from "node:crypto";
import { systemClock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { isObjectAddress } from "../../s3/address.js";
import { execute } from "../../run/execute.js";
import { readingOf } from "../../run/rows/reading.js";
import type { RowHandling } from "../../run/rows/row-handling.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../../run/types.js";
import { attemptSettings, refuseChangedLists } from "./attempt-settings.js";
import {
  attemptNames,
  attemptStand,
  clearAttempt,
  clearAttempts,
  clearUnlessOpen,
  discardAttempts,
  openAttempts,
  unlockAttempt,
} from "./attempts.js";
import {
  checkFiles,
  type ChunkResult,
  describeFile,
  isFault,
  publishResult,
  readChunkResult,
  type ResultFile,
  resultName,
} from "./chunk-result.js";
import type { WorkFolder } from "./work-folder.js";
import { type ChunkInput, chunkInput, type PlannedChunk, type WorkPlan } from "./work-plan.js";
import { checkResume } from "../../run/options.js";

/** A run's job without what the plan decides. */
export interface ChunkJob extends Omit<EnrichJob, "input" | "runId" | "chunk"> {
  /**
   * Makes a finished attempt count. False if another one was first.
   *
   * @default publishes its result
   */
  readonly commit?: (result: ChunkResult) => Promise<boolean>;
  /** Finds the result of a complete attempt. @default the published one */
  readonly finished?: () => Promise<ChunkResult | null>;
  /**
   * How long to wait for an attempt that a process has in hand before the chunk starts over, in
   * milliseconds. @default 0
   */
  readonly patienceMs?: number;
}

/** The result of a chunk, and whether an earlier attempt had already published it. */
export interface ChunkEnd {
  readonly result: ChunkResult;
  readonly wasDone: boolean;
}

/**
 * Enriches one chunk of a plan. Returns the earlier result if there is an intact one.
 *
 * An attempt that was interrupted on this machine is continued, since schedulers repeat a command as
 * it is; `restart` discards it.
 *
 * @throws UsageError `chunk_unknown`, `resume_or_restart`; as `enrich`
 */
export async function runChunk(
  job: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  number: number,
): Promise<ChunkEnd> {
  const chunk = plannedOf(plan, work, number);
  checkResume(job.settings.run);
  const { restart } = job.settings.run;
  const done = restart ? null : await intactResult(job, work, plan, chunk);
  if (done !== null) {
    if (work.isRemote) await clearAttempts(work, chunk);
    return { result: done, wasDone: true };
  }
  if (restart) await work.remove(resultName(number));
  if (restart) await discardAttempts(work, plan, chunk);
  const attempts = await openAttempts(work, chunk);
  for (const attempt of restart ? [] : attempts) {
    const ended = await tryAttempt(job, work, plan, chunk, attempt);
    if (ended !== null) return ended;
  }
  if (!restart && attempts.length > 0) {
    // One of them may have been completed meanwhile.
    const { finished = () => intactResult(job, work, plan, chunk) } = job;
    const result = await finished();
    if (result !== null) return { result, wasDone: true };
  }
  return runAttempt(job, work, plan, chunk, randomUUID().slice(0, 8));
}

function plannedOf({ chunks }: WorkPlan, work: WorkFolder, number: number): PlannedChunk {
  const found = chunks[number];
  if (found !== undefined) return found;
  throw new UsageError("chunk_unknown", `${work.name} has no chunk ${number}`, {
    hint: `its chunks are 0 to ${chunks.length - 1}`,
  });
}

async function intactResult(
  { onWarning }: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
): Promise<ChunkResult | null> {
  const found = await readChunkResult(work, plan, chunk);
  if (found === null) return null;
  const fault = isFault(found) ? found : await checkFiles(work, found);
  if (fault === null) return found as ChunkResult;
  onWarning?.(`chunk ${chunk.chunk} is done again: ${fault.what}`);
  await work.remove(resultName(chunk.chunk));
  return null;
}

/** Continues an attempt; null if another process is at it, or has completed it. */
async function tryAttempt(
  job: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
  attempt: string,
): Promise<ChunkEnd | null> {
  const { patienceMs = 0, signal, clock = systemClock } = job;
  const { state } = attemptNames(plan, chunk, attempt);
  for (let waitedMs = 0; ; waitedMs += lookAgainMs) {
    const stand = await attemptStand(work, state);
    if (stand === "gone") return null;
    try {
      if (stand === "open") return await runAttempt(job, work, plan, chunk, attempt);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      // Another worker, with lists of its own, has written rows of it.
      if (error.code === "exclusions_changed") return null;
      if (error.code !== "output_locked") throw error;
    }
    if (waitedMs >= patienceMs) return null;
    await clock.sleep(lookAgainMs, signal);
  }
}

/** Time between two looks at an attempt in progress. */
const lookAgainMs = 250;

async function runAttempt(
  job: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
  attempt: string,
): Promise<ChunkEnd> {
  const { output, rejects, state, copy } = attemptNames(plan, chunk, attempt);
  const settings = attemptSettings(job.settings, work, plan, { output, rejects });
  refuseChangedLists(plan, await job.session.withheld(settings.lookup));
  let lastStep = (): void => undefined;
  const run = async (): Promise<Manifest> => {
    await work.prepare(state);
    const input = await localInput(job, work, plan, chunk, copy);
    const { table } = plan.input;
    let rows: RowHandling;
    if (table === undefined) rows = readingOf(input, settings.input, job.clock);
    else {
      const { readCopy } = await import("../../run/copy/copied-table.js");
      const typesOf = async () => plan.types;
      rows = readCopy(input, settings.input, { ...table, clock: job.clock, typesOf });
    }
    const own: EnrichJob = {
      ...job,
      settings,
      input,
      runId: plan.plan_id,
      chunk: true,
      onFinished: (step) => void (lastStep = step),
    };
    return execute(own, rows);
  };
  const manifest = await run().catch(async (error: unknown) => {
    await clearUnlessOpen(work, { state, copy });
    throw explained(error, chunk);
  });
  const files = { chunk, manifest, output, rejects };
  const ended = await publishFiles(job, work, plan, files).catch(async (error: unknown) => {
    await unlockAttempt(work, state);
    throw error;
  });
  lastStep();
  await clearAttempt(work, { state, copy, kept: [output, rejects, manifestPath(output)] });
  return ended;
}

/** The chunk's part of the input, which of an object is copied to this machine. */
async function localInput(
  { signal }: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  chunk: PlannedChunk,
  copy: string,
): Promise<ChunkInput> {
  const input = chunkInput(work, plan, chunk);
  if (!isObjectAddress(input.path)) return input;
  const { fetchRange } = await import("./object-range.js");
  return fetchRange(input, work.pathOf(copy), { etag: plan.input.etag, signal });
}

/** Publishes the result of an attempt, unless another one was first. */
async function publishFiles(
  { commit, signal }: ChunkJob,
  work: WorkFolder,
  plan: WorkPlan,
  attempt: Readonly<{ chunk: PlannedChunk; manifest: Manifest; output: string; rejects: string }>,
): Promise<ChunkEnd> {
  const { chunk, manifest, output, rejects } = attempt;
  for (const file of [output, rejects, manifestPath(output)]) await work.keep(file, signal);
  const result: ChunkResult = {
    plan_id: plan.plan_id,
    chunk: chunk.chunk,
    rows: manifest.input.rows,
    output: await outputFile(work, output, manifest),
    rejects: await describeFile(work, rejects),
    manifest,
  };
  const counts = await (commit?.(result) ?? publishResult(work, result));
  if (counts) return { result, wasDone: false };
  for (const file of [output, rejects, manifestPath(output)]) await work.remove(file);
  const first = await readChunkResult(work, plan, chunk);
  return { result: first === null || isFault(first) ? result : first, wasDone: true };
}

/** The audit of the run has read the output already. */
async function outputFile(
  work: WorkFolder,
  file: string,
  { output: { bytes, sha256 } }: Manifest,
): Promise<ResultFile> {
  return bytes === null || sha256 === null ? describeFile(work, file) : { file, bytes, sha256 };
}

/** A changed input cannot be resumed chunk by chunk. */
function explained(error: unknown, { chunk }: PlannedChunk): unknown {
  if (!(error instanceof FatalError) || error.code !== "input_changed") return error;
  return new FatalError("input_changed", `chunk ${chunk}: ${error.message}`, {
    cause: error,
    hint: "restore the input as it was when it was split, or split it again",
  });
}
