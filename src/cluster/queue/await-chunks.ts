import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../../core/abort.js";
import { FatalError } from "../../core/errors.js";
import { isFault, readChunkResult } from "../chunks/chunk-result.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import type { WorkPlan } from "../chunks/work-plan.js";
import type { EnrichJob, RunProgress } from "../../run/types.js";
import { type ChunkJobOfQueue, type ChunkQueue, reportedProgress } from "./chunk-queue.js";
import { ChunksProgress } from "./chunks-progress.js";
import type { WorkLease } from "./work-lease.js";

export interface AwaitedChunks {
  readonly job: EnrichJob;
  readonly queue: ChunkQueue;
  readonly work: WorkFolder;
  readonly plan: WorkPlan;
  readonly lease: WorkLease;
  readonly signal: AbortSignal;
  /** How often the run was resumed. */
  readonly resumed: number;
}

const pollMs = 400;

/** Chunks that are looked for in each turn, in case the queue has lost some. */
const sought = 256;

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
  /** Chunks that are not published. */
  readonly #left: Set<number>;
  #open: readonly RunProgress[] = [];
  /** Turns in which a result was looked for in vain. */
  readonly #looks = new Map<number, number>();
  #alone = 0;

  constructor(awaited: AwaitedChunks) {
    const { plan, job, resumed } = awaited;
    this.#of = awaited;
    this.#left = new Set(plan.chunks.map(({ chunk }) => chunk));
    this.#progress = new ChunksProgress(plan, job, resumed);
  }

  async run(): Promise<void> {
    const { job, queue, resumed, signal } = this.#of;
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
      const error = await this.#inTime(queue.error(resumed));
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
    const { queue, work, job, resumed } = this.#of;
    const task = { work: work.name, attempt: resumed };
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
    const { work, plan, resumed } = this.#of;
    const { attempt, chunk } = job.data;
    const planned = plan.chunks[chunk];
    if (planned === undefined || !this.#left.has(chunk)) return true;
    if (job.failedReason !== undefined) {
      // A worker may finish with an earlier attempt only now; its fault may be mended.
      if (attempt !== resumed) return true;
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
    const some = lease.check() ? left : left.slice(from, from + sought);
    await this.#submit(await queue.missing(some));
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
