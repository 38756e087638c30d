import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../../core/abort.js";
import { FatalError } from "../../core/errors.js";
import type { Manifest } from "../../core/manifest/manifest.js";
import { addCounts } from "../../run/counters.js";
import type { OutputTarget } from "../../run/destination/output-target.js";
import { manifestSoFar } from "../../run/finish/manifest.js";
import { Tally } from "../../run/tally.js";
import type { EnrichJob, RunProgress } from "../../run/types.js";
import { perSecond } from "../../session/connections.js";
import { type ChunkResult, isFault, readChunkResult } from "../chunks/chunk-result.js";
import { plannedJob, runOfChunks } from "../chunks/merged-run.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import type { WorkPlan } from "../chunks/work-plan.js";
import { type ChunkJobOfQueue, type ChunkQueue, reportedProgress } from "./chunk-queue.js";
import type { WorkLease } from "./work-lease.js";

export interface AwaitedChunks {
  readonly job: EnrichJob;
  readonly queue: ChunkQueue;
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly target: OutputTarget;
  readonly lease: WorkLease;
  readonly signal: AbortSignal;
}

const pollMs = 400;

/** Chunks that are queued again in each turn, in case the queue has lost some. */
const sought = 64;

/** Turns without a worker after which the coordinator says so. */
const patience = 10;

/** Turns in which the result of a chunk may be invisible here, before its chunk is done again. */
const mostLooks = 75;

/** Queues the chunks that are not done, and resolves once all are published. */
export async function awaitChunks(awaited: AwaitedChunks): Promise<void> {
  await new Waiting(awaited).run();
}

class Waiting {
  readonly #of: AwaitedChunks;
  readonly #progress: ChunksProgress;
  readonly #left: Set<number>;
  /** Tells the faults of this attempt at the run from those of earlier ones. */
  readonly #attempt = randomUUID();
  #open: readonly RunProgress[] = [];
  /** Turns in which a result was looked for in vain. */
  readonly #looks = new Map<number, number>();
  #alone = 0;

  constructor(awaited: AwaitedChunks) {
    this.#of = awaited;
    this.#left = new Set(awaited.plan.chunks.map(({ chunk }) => chunk));
    this.#progress = new ChunksProgress(awaited);
  }

  async run(): Promise<void> {
    const { job, queue, signal } = this.#of;
    await this.#inTime(this.#takePublished());
    if (this.#left.size === 0) return;
    await this.#inTime(this.#takeFinished());
    await this.#inTime(this.#submit([...this.#left]));
    job.onStart?.(
      () => this.#progress.now(this.#open),
      () => this.#progress.record(),
    );
    for (let turn = 0; this.#left.size > 0; turn++) {
      await delay(pollMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      const error = await this.#inTime(queue.error(this.#attempt));
      if (error !== null) throw error;
      await this.#inTime(this.#takeFinished());
      await this.#inTime(this.#look(turn));
    }
  }

  /** Redis may be away; the run can be interrupted nevertheless. */
  #inTime<T>(step: Promise<T>): Promise<T> {
    return raceAbort(step, this.#of.signal);
  }

  #submit(chunks: readonly number[]): Promise<void> {
    const { queue, work, job } = this.#of;
    const task = { work: work.name, attempt: this.#attempt };
    return queue.submit(task, chunks, job.settings.lookup.priority ?? "normal");
  }

  async #takePublished(): Promise<void> {
    const { work, plan } = this.#of;
    for (const planned of plan.chunks) {
      const result = await readChunkResult(work, plan, planned);
      if (result === null || isFault(result)) continue;
      this.#progress.done(result);
      this.#left.delete(planned.chunk);
    }
  }

  /** Takes what the workers have published. */
  async #takeFinished(): Promise<void> {
    const { queue } = this.#of;
    const gone: number[] = [];
    for (const job of await queue.finished()) {
      if (await this.#take(job)) gone.push(job.data.chunk);
    }
    await queue.remove(gone);
    // Without a result, a worker has left it, in a run that was stopped or resumed.
    await this.#submit(gone.filter((chunk) => this.#left.has(chunk)));
  }

  /** Whether the job has served its purpose. */
  async #take(job: ChunkJobOfQueue): Promise<boolean> {
    const { work, plan } = this.#of;
    const { attempt, chunk } = job.data;
    const planned = plan.chunks[chunk];
    if (planned === undefined || !this.#left.has(chunk)) return true;
    if (job.failedReason !== undefined) {
      // A worker may finish with an earlier attempt only now; its fault may be mended.
      if (attempt !== this.#attempt) return true;
      throw failed(job);
    }
    if (!job.returnvalue) return true;
    const result = await readChunkResult(work, plan, planned);
    // A shared folder may show it later.
    if (result === null || isFault(result)) return this.#lookedInVain(chunk);
    this.#progress.done(result);
    this.#left.delete(chunk);
    return true;
  }

  #lookedInVain(chunk: number): boolean {
    const looks = (this.#looks.get(chunk) ?? 0) + 1;
    this.#looks.set(chunk, looks);
    if (looks < mostLooks) return false;
    this.#looks.delete(chunk);
    const { job, work } = this.#of;
    job.onWarning?.(`chunk ${chunk} is done again: its result does not appear in ${work.name}`);
    return true;
  }

  /** Looks at the chunks in progress, for some that are lost, and for workers. */
  async #look(turn: number): Promise<void> {
    const { queue, job, lease } = this.#of;
    const active = await queue.active();
    this.#open = active.flatMap((each) =>
      this.#left.has(each.data.chunk) ? (reportedProgress(each) ?? []) : [],
    );
    const left = [...this.#left];
    const from = (turn * sought) % Math.max(1, left.length);
    // Those that are in the queue stay as they are.
    await this.#submit(lease.check() ? left : left.slice(from, from + sought));
    this.#alone = active.length > 0 || (await queue.workers()) > 0 ? 0 : this.#alone + 1;
    if (this.#alone === patience) {
      job.onWarning?.("no worker is connected; start some with repute worker redis://HOST/DB");
    }
  }
}

function failed({ data, failedReason }: ChunkJobOfQueue): FatalError {
  return new FatalError("worker_failed", `chunk ${data.chunk} failed: ${failedReason}`, {
    hint: "read the messages of the workers and check their memory, then continue with --resume",
  });
}

/** Adds up the progress of chunks that are done and of those in progress. */
class ChunksProgress {
  readonly #of: AwaitedChunks;
  readonly #done: Manifest[] = [];
  readonly #tally = new Tally();
  #bytes = 0;

  constructor(awaited: AwaitedChunks) {
    this.#of = awaited;
  }

  /** A chunk is done. */
  done({ chunk, manifest }: ChunkResult): void {
    const { start = 0, end = 0 } = this.#of.plan.chunks[chunk] ?? {};
    this.#done.push(manifest);
    this.#tally.add({ ...manifest, rows: manifest.input.rows });
    this.#bytes += end - start;
  }

  /** @param open progress of the chunks in progress */
  now(open: readonly RunProgress[]): RunProgress {
    const limit = perSecond(this.#of.job.session.rates);
    const { rows, requestTotal, throttled } = this.#tally;
    const [statuses, verdicts] = [{ ...this.#tally.statuses }, { ...this.#tally.verdicts }];
    const sum = (of: (each: RunProgress) => number): number =>
      open.reduce((total, each) => total + of(each), 0);
    for (const each of open) {
      addCounts(statuses, each.statuses);
      addCounts(verdicts, each.verdicts);
    }
    return {
      rowsRead: rows + sum(({ rowsRead }) => rowsRead),
      rowsWritten: rows + sum(({ rowsWritten }) => rowsWritten),
      requests: requestTotal + sum(({ requests }) => requests),
      throttled: throttled + sum((each) => each.throttled),
      isAway: open.length > 0 && open.every(({ isAway }) => isAway),
      pausedSeconds: Math.max(0, ...open.map(({ pausedSeconds }) => pausedSeconds)),
      statuses,
      verdicts,
      lookups: { planned: null, settled: 0, requests: 0 },
      maxPerSecond: Number.isFinite(limit) ? limit : null,
      throttling: "none",
      ends: { requests: null, seconds: null, at: null },
      bytesRead: this.#bytes + sum(({ bytesRead }) => bytesRead),
      bytesTotal: this.#of.plan.chunks.reduce((total, { start, end }) => total + end - start, 0),
    };
  }

  /** The manifest of the chunks that are done. */
  record(): Manifest {
    const { plan, job, target } = this.#of;
    const run = runOfChunks(plan, this.#done, target);
    return manifestSoFar({ ...plannedJob(plan), command: job.command }, run);
  }
}
