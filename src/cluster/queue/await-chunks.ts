import { setTimeout as delay } from "node:timers/promises";
import { raceAbort } from "../../core/abort.js";
import { FatalError } from "../../core/errors.js";
import { countedVerdicts, findingStatuses } from "../../core/finding.js";
import type { Manifest, RequestCounts } from "../../core/manifest/manifest.js";
import { zeros } from "../../core/row.js";
import { unknownEnding } from "../../run/exit-reason.js";
import type { EnrichJob, RunProgress } from "../../run/types.js";
import { perSecond } from "../../session/connections.js";
import { type ChunkResult, isFault, readChunkResult } from "../chunks/chunk-result.js";
import { sumChunks } from "../chunks/merge-manifest.js";
import type { WorkFolder } from "../chunks/work-folder.js";
import type { WorkPlan } from "../chunks/work-plan.js";
import { type ChunkJobOfQueue, type ChunkQueue, reportedProgress } from "./chunk-queue.js";
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
  readonly #plan: WorkPlan;
  readonly #job: EnrichJob;
  readonly #resumed: number;
  readonly #done: Manifest[] = [];
  #rows = 0;
  #bytes = 0;

  /** @param resumed how often the run was resumed */
  constructor(plan: WorkPlan, job: EnrichJob, resumed: number) {
    this.#plan = plan;
    this.#job = job;
    this.#resumed = resumed;
  }

  /** A chunk is done. */
  done({ chunk, rows, manifest }: ChunkResult): void {
    const { start = 0, end = 0 } = this.#plan.chunks[chunk] ?? {};
    this.#done.push(manifest);
    this.#rows += rows;
    this.#bytes += end - start;
  }

  /** @param open progress of the chunks in progress */
  now(open: readonly RunProgress[]): RunProgress {
    const limit = perSecond(this.#job.session.rates);
    const sum = (of: (each: RunProgress) => number): number =>
      open.reduce((total, each) => total + of(each), 0);
    const requests = this.#done.flatMap((manifest) => Object.values(manifest.requests));
    const sumDone = (of: (each: RequestCounts) => number): number =>
      requests.reduce((total, each) => total + of(each), 0);
    const statuses = zeros(findingStatuses);
    const graded = zeros(countedVerdicts);
    for (const each of [...this.#done, ...open]) {
      for (const name of findingStatuses) statuses[name] += each.statuses[name];
      for (const name of countedVerdicts) graded[name] += each.verdicts[name];
    }
    return {
      rowsRead: this.#rows + sum(({ rowsRead }) => rowsRead),
      rowsWritten: this.#rows + sum(({ rowsWritten }) => rowsWritten),
      requests: sumDone(({ total }) => total) + sum((each) => each.requests),
      throttled: sumDone(({ outcomes }) => outcomes["429"] ?? 0) + sum((each) => each.throttled),
      isAway: open.length > 0 && open.every((each) => each.isAway),
      pausedSeconds: Math.max(0, ...open.map((each) => each.pausedSeconds)),
      statuses,
      verdicts: graded,
      lookups: { planned: null, settled: 0, requests: 0 },
      maxPerSecond: Number.isFinite(limit) ? limit : null,
      throttling: "none",
      ends: { requests: null, seconds: null, at: null },
      bytesRead: this.#bytes + sum(({ bytesRead }) => bytesRead),
      bytesTotal: this.#plan.chunks.reduce((total, { start, end }) => total + end - start, 0),
    };
  }

  /** The manifest of the chunks that are done. */
  record(): Manifest {
    const { command, settings } = this.#job;
    const { output: path } = settings.output;
    const format = this.#plan.settings.to;
    return {
      ...sumChunks(this.#plan, this.#done, this.#resumed),
      command,
      output: { path, format, bytes: null, rows: this.#rows, sha256: null },
      ended_at: new Date().toISOString(),
      ...unknownEnding,
    };
  }
}
