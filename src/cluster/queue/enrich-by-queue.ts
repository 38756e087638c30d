import { resolve } from "node:path";
import { raceAbort } from "../../core/abort.js";
import { UsageError } from "../../core/errors.js";
import { isObjectAddress } from "../../s3/address.js";
import { mergeWork } from "../chunks/merge-work.js";
import { openMerged } from "../chunks/merged-output.js";

import { openWork, type WorkFolder } from "../chunks/work-folder.js";
import { planName, readPlan, type WorkPlan } from "../chunks/work-plan.js";
import { RunSignals } from "../../run/run-signals.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import type { EnrichJob } from "../../run/types.js";
import { awaitChunks, type AwaitedChunks } from "./await-chunks.js";
import { ChunkQueue, inSeconds, openQueue, openQueueLink, type QueueLink } from "./chunk-queue.js";
import {
  clearWork,
  type DividedRun,
  dividedRun,
  findWork,
  markFinished,
  planOf,
  removeMark,
} from "./divided-run.js";
import { readRunRecord, refusePasswords, writeRunRecord } from "./run-record.js";
import { checkResume } from "../../run/options.js";
import { WorkLease } from "./work-lease.js";

/** How a run is spread over workers on other machines. */
export interface QueueOptions {
  readonly queue: string;
  /** The folder that all machines share. */
  readonly work: string | undefined;
  readonly rowsPerChunk: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The main job with workers on any machine: divides the input in the work folder, queues the chunks,
 * waits for the workers, and merges.
 *
 * @throws as `enrich`; UsageError `workers_option`, `workers_need_file`, `work_in_use`
 */
export async function enrichByQueue(given: EnrichJob, options: QueueOptions): Promise<Manifest> {
  const path = checkOptions(given, options);
  const run = await dividedRun(given);
  try {
    return await enrichAt(path, run, options);
  } finally {
    run.target.upload?.cleanEmpty();
  }
}

async function enrichAt(path: string, run: DividedRun, options: QueueOptions): Promise<Manifest> {
  const { signal, onWarning = () => undefined } = run.job;
  const { environment } = options;
  const work = openWork(path);
  const opening = openQueueLink(options.queue, { environment, onWarning });
  const link = await raceAbort(opening, signal, (late) => late.close());
  const lease = new WorkLease(link, work);
  try {
    const manifest = await coordinate(run, options, work, link, lease);
    await clearWork(work, run.job);
    run.target.upload?.clean();
    await removeMark(work, run.job);
    return manifest;
  } finally {
    await inSeconds(2, lease.release());
    link.close();
  }
}

/** Publishes the output, or finds that an earlier coordinator has. The work folder has a mark then. */
async function coordinate(
  run: DividedRun,
  { rowsPerChunk }: QueueOptions,
  work: WorkFolder,
  link: QueueLink,
  lease: WorkLease,
): Promise<Manifest> {
  const { job, target } = run;
  const settings = { ...job.settings.output, ...job.settings.run };
  const signals = new RunSignals(job);
  const divided = async () => {
    const { stop: signal } = signals;
    const ending = { ...run, job: { ...job, signal } };
    const all = await openQueue(link);
    const queueOf = (plan: WorkPlan) => new ChunkQueue(link, all, plan.plan_id);
    // Nothing may be touched before.
    await lease.take(ending.job, null);
    const earlier = await readPlan(work).catch(() => null);
    if (earlier !== null) await lease.take(ending.job, earlier.plan_id);
    if (earlier !== null && job.settings.run.restart) await leave(queueOf(earlier), earlier);
    const manifest = await findWork(work, run);
    if (manifest !== null) return { manifest };
    const isNew = (await work.read(planName)) === null;
    const plan = await planOf(ending, work, rowsPerChunk);
    if (isNew) await lease.take(ending.job, plan.plan_id);
    // What would otherwise fail after the last request.
    await openMerged({ ...job, settings, plan }, target, run.base);
    const before = isNew ? null : await readRunRecord(work).catch(() => null);
    const resumed = isNew ? 0 : (before?.resumed ?? 0) + 1;
    await writeRunRecord(work, { plan: plan.plan_id, resumed }, job);
    await doChunks({ job, queue: queueOf(plan), work, plan, target, lease, signal });
    return { plan, resumed };
  };
  const done = await divided().finally(() => signals.close());
  if ("manifest" in done) return done.manifest;
  const manifest = await mergeWork({ ...job, ...done, settings, work, target });
  // This process may have been stopped meanwhile.
  await inSeconds(2, lease.renew());
  lease.check();
  await markFinished(work, done.plan, manifest);
  return manifest;
}

/** @returns the absolute path of the work folder, or its address */
function checkOptions({ settings, session }: EnrichJob, { work }: QueueOptions): string {
  if (session.service.embedded) {
    throw new UsageError("workers_option", "the workers cannot reach the service of --local", {
      hint: "name a service with --intel-url, such as the one that repute serve starts",
    });
  }
  if (settings.run.maxRequests !== undefined) {
    throw new UsageError("workers_option", "--max-requests does not count for several machines", {
      hint: "give a quota, which all workers share: --rate 5000/d",
    });
  }
  if (work === undefined) {
    throw new UsageError("workers_option", "--workers redis:// needs a work folder", {
      hint: "name a folder that all machines share: --work DIR, or --work s3://BUCKET/KEY",
    });
  }
  checkResume(settings.run);
  refusePasswords(settings.lookup);
  return isObjectAddress(work) ? work : resolve(work);
}

async function doChunks(awaited: AwaitedChunks): Promise<void> {
  const { queue, plan, signal } = awaited;
  try {
    await raceAbort(queue.begin(), signal);
    await awaitChunks(awaited);
  } catch (error) {
    if (!(error instanceof UsageError && error.code === "work_in_use")) {
      await leave(queue, plan);
    }
    throw error;
  }
}

/** Ends a run in the queue. Workers leave the chunks that cannot be removed in time. */
async function leave(queue: ChunkQueue, { chunks }: WorkPlan): Promise<void> {
  await inSeconds(2, queue.stop());
  await inSeconds(3, queue.remove(chunks.map(({ chunk }) => chunk)));
}
