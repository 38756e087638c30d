import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { FatalError, UsageError } from "../../core/errors.js";
import { manifestPath } from "../../core/files/output-names.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { execute } from "../../run/execute.js";
import { checkResume } from "../../run/options.js";
import { readingOf } from "../../run/rows/reading.js";
import type { RowHandling } from "../../run/rows/row-handling.js";
import type { EnrichJob } from "../../run/types.js";
import {
  attemptNames,
  attemptSettings,
  attemptStand,
  clearAttempt,
  clearAttempts,
  openAttempts,
  refuseChangedLists,
} from "./attempts.js";
import {
  checkFile,
  type ChunkResult,
  describeFile,
  isFault,
  publishResult,
  readChunkResult,
  resultName,
} from "./chunk-result.js";
import type { WorkFolder } from "./work-folder.js";
import { type ChunkInput, chunkInput, type PlannedChunk, type WorkPlan } from "./work-plan.js";

/** A run's job without what the plan decides. */
export type ChunkJob = Omit<EnrichJob, "input" | "runId" | "chunk">;

/** The result of a chunk, and whether an earlier attempt had already published it. */
export interface ChunkEnd {
  readonly result: ChunkResult;
  readonly wasDone: boolean;
}

/** A chunk that this process does. */
interface Doing {
  readonly job: ChunkJob;
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly chunk: PlannedChunk;
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
  const doing = { job, work, plan, chunk };
  checkResume(job.settings.run);
  const fresh = randomUUID().slice(0, 8);
  if (job.settings.run.restart) {
    await work.remove(resultName(number));
    await clearAttempts(work, chunk);
    return runAttempt(doing, fresh);
  }
  const done = await intactResult(doing);
  if (done !== null) {
    if (work.isRemote) await clearAttempts(work, chunk);
    return { result: done, wasDone: true };
  }
  const attempts = await openAttempts(work, chunk);
  for (const attempt of attempts) {
    const ended = await tryAttempt(doing, attempt);
    if (ended !== null) return ended;
  }
  // One of them may have been completed meanwhile.
  const completed = attempts.length === 0 ? null : await intactResult(doing);
  return completed === null ? runAttempt(doing, fresh) : { result: completed, wasDone: true };
}

function plannedOf({ chunks }: WorkPlan, work: WorkFolder, number: number): PlannedChunk {
  const found = chunks[number];
  if (found !== undefined) return found;
  throw new UsageError("chunk_unknown", `${work.name} has no chunk ${number}`, {
    hint: `its chunks are 0 to ${chunks.length - 1}`,
  });
}

/** The published result, unless it or one of its files is damaged. */
async function intactResult({ job, work, plan, chunk }: Doing): Promise<ChunkResult | null> {
  const found = await readChunkResult(work, plan, chunk);
  if (found === null) return null;
  const what = isFault(found)
    ? found.what
    : ((await checkFile(work, found.output)) ?? (await checkFile(work, found.rejects)));
  if (what === null) return found as ChunkResult;
  job.onWarning?.(`chunk ${chunk.chunk} is done again: ${what}`);
  await work.remove(resultName(chunk.chunk));
  return null;
}

/** Continues an attempt; null if another process is at it, or has completed it. */
async function tryAttempt(doing: Doing, attempt: string): Promise<ChunkEnd | null> {
  const { work, plan, chunk } = doing;
  const { state } = attemptNames(plan, chunk, attempt);
  if ((await attemptStand(work, state)) !== "open") return null;
  try {
    return await runAttempt(doing, attempt);
  } catch (error) {
    // Another process has it; or another worker, with lists of its own, has written rows of it.
    const { code = "" } = error instanceof UsageError ? error : {};
    if (code === "output_locked" || code === "exclusions_changed") return null;
    throw error;
  }
}

async function runAttempt(doing: Doing, attempt: string): Promise<ChunkEnd> {
  const { job, work, plan, chunk } = doing;
  const names = attemptNames(plan, chunk, attempt);
  const settings = attemptSettings(job.settings, work, plan, names);
  refuseChangedLists(plan, await job.session.withheld(settings.lookup));
  let lastStep = (): void => undefined;
  const run = async (): Promise<Manifest> => {
    await work.prepare();
    const input = await partOf(doing);
    const own: EnrichJob = {
      ...job,
      settings,
      input,
      runId: plan.plan_id,
      chunk: true,
      onFinished: (step) => void (lastStep = step),
    };
    return execute(own, await handlingOf(own, input, plan));
  };
  const manifest = await run().catch(async (error: unknown) => {
    await work.close();
    throw explained(error, chunk);
  });
  const files = [names.output, names.rejects, manifestPath(names.output)];
  const ended = await publishFiles(doing, manifest, files).catch(async (error: unknown) => {
    // This process can continue it.
    await rm(join(work.pathOf(names.state), "lock"), { force: true });
    throw error;
  });
  lastStep();
  await clearAttempt(work, names, files);
  return ended;
}

/** The chunk's part of the input: of an object, of the version that was divided. */
async function partOf({ work, plan, chunk }: Doing): Promise<ChunkInput> {
  const input = chunkInput(work, plan, chunk);
  const { etag } = plan.input;
  if (etag === undefined) return input;
  const { pinnedObject } = await import("../../inputs/stored-object.js");
  if ((await pinnedObject(input)).etag === etag) return input;
  throw new FatalError("input_changed", `${input.path} has changed since it was split`);
}

/** How the rows are read: of a table, those of its copy. */
async function handlingOf(
  { settings, clock }: EnrichJob,
  input: ChunkInput,
  { input: { table }, types }: WorkPlan,
): Promise<RowHandling> {
  if (table === undefined) return readingOf(input, settings.input, clock);
  const { readCopy } = await import("../../run/copy/copied-table.js");
  return readCopy(input, settings.input, { ...table, clock, typesOf: async () => types });
}

/** Publishes the result of an attempt, unless another one was first. */
async function publishFiles(
  { job: { signal }, work, plan, chunk }: Doing,
  manifest: Manifest,
  files: readonly string[],
): Promise<ChunkEnd> {
  const [output = "", rejects = ""] = files;
  for (const file of files) await work.keep(file, signal);
  const { bytes, sha256 } = manifest.output;
  const result: ChunkResult = {
    plan_id: plan.plan_id,
    chunk: chunk.chunk,
    rows: manifest.input.rows,
    // The audit of the run has read the output already.
    output:
      bytes === null || sha256 === null
        ? await describeFile(work, output)
        : { file: output, bytes, sha256 },
    rejects: await describeFile(work, rejects),
    manifest,
  };
  // A worker that has lost its chunk publishes nothing.
  signal.throwIfAborted();
  while (!(await publishResult(work, result))) {
    const first = await readChunkResult(work, plan, chunk);
    if (first !== null && !isFault(first)) {
      for (const file of files) await work.remove(file);
      return { result: first, wasDone: true };
    }
    await work.remove(resultName(chunk.chunk));
  }
  return { result, wasDone: false };
}

/** A changed input cannot be resumed chunk by chunk. */
function explained(error: unknown, { chunk }: PlannedChunk): unknown {
  if (!(error instanceof FatalError) || error.code !== "input_changed") return error;
  return new FatalError("input_changed", `chunk ${chunk}: ${error.message}`, {
    cause: error,
    hint: "restore the input as it was when it was split, or split it again",
  });
}
