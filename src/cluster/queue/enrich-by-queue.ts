import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../../core/abort.js";
import { systemClock } from "../../core/clock.js";
import { FatalError, UsageError } from "../../core/errors.js";
import { isObjectAddress } from "../../s3/address.js";
import { mergeWork } from "../chunks/merge-work.js";
import { openWork } from "../chunks/open-work.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import { planName } from "../chunks/work-plan.js";
import { endAt } from "../../run/run-signals.js";
import { openStateFolder } from "../../run/state/state-folder.js";
import type { EnrichJob, Manifest } from "../../run/types.js";
import { awaitChunks, type AwaitedChunks } from "./await-chunks.js";
import { ChunkQueue, type Lease, openQueue } from "./chunk-queue.js";
import { type DividedRun, dividedRun, planOf } from "./divided-run.js";
import { openQueueLink, type QueueLink } from "./queue-link.js";
import { refusePasswords, runRecordName, writeRunRecord } from "./run-record.js";
import { checkResume } from "../../run/options.js";

/** How a run is spread over workers on other machines. */
export interface QueueOptions {
  /** Address of the queue's Redis. */
  readonly queue: string;
  /** The folder that all machines share. */
  readonly work: string | undefined;
  readonly rowsPerChunk: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The main job with workers on any machine: divides the input in the work folder, queues the chunks,
 * publishes what the workers commit, and merges.
 *
 * @throws as `enrich`; UsageError `workers_option`, `workers_need_file`, `work_in_use`
 */
export async function enrichByQueue(given: EnrichJob, options: QueueOptions): Promise<Manifest> {
  const path = checkOptions(given, options);
  const run = await dividedRun(given);
  const { staged } = run.target;
  try {
    const manifest = await enrichAt(path, run, options);
    staged?.clean();
    return manifest;
  } finally {
    staged?.cleanEmpty();
  }
}

async function enrichAt(path: string, run: DividedRun, options: QueueOptions): Promise<Manifest> {
  const { signal, onWarning = () => undefined } = run.job;
  const { environment } = options;
  const work = await openWork(path);
  await findWork(work, run);
  const opening = openQueueLink(options.queue, { environment, onWarning });
  const link = await raceAbort(opening, signal, (late) => late.close());
  try {
    return await coordinate(run, options, work, link);
  } finally {
    link.close();
  }
}

async function coordinate(
  run: DividedRun,
  { rowsPerChunk }: QueueOptions,
  work: WorkFolder,
  link: QueueLink,
): Promise<Manifest> {
  const { job } = run;
  const isNew = (await work.read(planName)) === null;
  const plan = await planOf(run, work, rowsPerChunk);
  const queue = new ChunkQueue(link, await openQueue(link), plan.plan_id);
  const token = randomUUID();
  const lease = (): Promise<Lease> => queue.lease(token);
  let resumed = 0;
  try {
    await untilEnd(job, async (signal) => {
      await takeLease(lease, { ...job, signal }, work);
      if (!isNew) resumed = await countResume(work);
      await writeRunRecord(work, plan.plan_id, job);
      await doChunks({ job, queue, work, plan, lease, signal, resumed });
    });
    const renewing = setInterval(() => void lease().catch(() => undefined), renewMs);
    const { target } = run;
    const settings = { ...job.settings.output, ...job.settings.run };
    const manifest = await mergeWork({ ...job, settings, work, plan, target, resumed })
      .finally(() => clearInterval(renewing))
      .catch(async (error: unknown) => {
        // There is nothing to continue.
        if (error instanceof FatalError && error.code === "input_empty") await clear(work);
        throw error;
      });
    await clear(work);
    return manifest;
  } finally {
    await inSeconds(2, queue.release(token));
  }
}

/** Names of the files that each tell of a resume. */
const resumeName = /^resumed-(\d+)$/;

/** Notes in a work folder that its run is resumed. @returns how often it was */
async function countResume(work: WorkFolder): Promise<number> {
  const counts = (await work.list()).map((name) => Number(resumeName.exec(name)?.[1] ?? 0));
  const count = Math.max(0, ...counts) + 1;
  await work.publish(`resumed-${count}`, "\n");
  return count;
}

/** A merge may take longer than the lease. */
const renewMs = 3_000;

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
  refusePasswords(settings.lookup);
  return isObjectAddress(work) ? work : resolve(work);
}

/** Finds or discards what an interrupted run left. @throws UsageError `state_exists` */
async function findWork(work: WorkFolder, { job, target, base }: DividedRun): Promise<void> {
  const { resume, restart } = job.settings.run;
  checkResume({ resume, restart });
  if (restart) await clear(work);
  if (!resume && (await work.read(planName)) !== null) {
    throw new UsageError("state_exists", `an interrupted run exists in ${work.name}`, {
      hint: "continue it with --resume, or discard it with --restart",
    });
  }
  // The merge would find out only in the end.
  const state = await openStateFolder(base, { resume: false, restart: false, name: target.name });
  await state.remove();
}

/** Removes what runs write into a work folder; the plan first: without it, the rest means nothing. */
async function clear(work: WorkFolder): Promise<void> {
  await work.remove(planName);
  const own = /^(?:chunk-\d{5,}\..*|plan\.json\..*|run\.json\..*|input(?:\..*)?)$/;
  for (const name of await work.list()) {
    if (name === runRecordName || resumeName.test(name) || own.test(name)) await work.remove(name);
  }
}

/** Two coordinators of one run would both merge it. A killed one loses its lease after 10 s. */
async function takeLease(
  lease: () => Promise<Lease>,
  { signal, onNotice }: EnrichJob,
  work: WorkFolder,
): Promise<void> {
  for (let tries = 0; (await raceAbort(lease(), signal)) === "other"; tries++) {
    if (tries === 0) onNotice?.("another coordinator may be at work; waiting for its lease to end");
    if (tries === 24) {
      throw new UsageError("work_in_use", `another repute enrich coordinates ${work.name}`, {
        hint: "wait for it, or name another folder with --work",
      });
    }
    await delay(500, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Calls `step` with a signal that aborts at the deadline, too. */
async function untilEnd(
  { settings, signal, clock = systemClock }: EnrichJob,
  step: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const over = new AbortController();
  const onAbort = (): void => ended.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const { deadline } = settings.run;
  if (deadline !== undefined) {
    void endAt(deadline, clock, (error) => ended.abort(error), over.signal);
  }
  try {
    await step(ended.signal);
  } finally {
    over.abort();
    signal.removeEventListener("abort", onAbort);
  }
}

/** Has the workers do every chunk that is not done. */
async function doChunks(awaited: AwaitedChunks): Promise<void> {
  const { queue, plan, signal } = awaited;
  try {
    await raceAbort(queue.begin(), signal);
    await awaitChunks(awaited);
  } catch (error) {
    if (!(error instanceof UsageError && error.code === "work_in_use")) {
      // Workers leave the chunks that cannot be removed in time.
      await inSeconds(2, queue.stop());
      await inSeconds(3, queue.remove(plan.chunks.map(({ chunk }) => chunk)));
    }
    throw error;
  }
}

/** A last message to Redis, which may be away. */
async function inSeconds(seconds: number, message: Promise<void>): Promise<void> {
  const over = new AbortController();
  const wait = delay(seconds * 1_000, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([message.catch(() => undefined), wait]);
  over.abort();
}
