import { once } from "node:events";
import {
  type ChunkJobOfQueue,
  ChunkQueue,
  type ChunkTask,
  inSeconds,
  loadBullmq,
  openQueue,
  openQueueLink,
  type QueueLink,
  queueName,
  queuePrefix,
} from "./chunk-queue.js";
import { ChunkDoer, lockLost, type QueueWorkerOptions, runStopped } from "./do-chunk.js";
import { isOfRun, located } from "./sent-error.js";

/** How often a chunk may lose its worker before the run ends. */
const maxStalledCount = 20;

/** Pause after a fault of the connection, in milliseconds; BullMQ waits 15 s otherwise. */
const retryMs = 1_000;

/** How long a worker that was told to stop waits for its chunk, and for Redis. */
const partingSeconds = 5;

/** Does chunks of any run in the queue, one at a time, until the signal aborts. */
export async function serveQueue(options: QueueWorkerOptions): Promise<void> {
  const { queue, environment, onWarning, signal } = options;
  const link = await openQueueLink(queue, { environment, onWarning });
  try {
    if (!signal.aborted) await new QueueWorker(options, link).run();
  } finally {
    link.close();
  }
}

class QueueWorker {
  readonly #options: QueueWorkerOptions;
  readonly #link: QueueLink;
  readonly #doer: ChunkDoer;
  #ending: AbortController | null = null;
  /** Aborts when this machine cannot do any chunk. */
  readonly #faulty = new AbortController();

  constructor(options: QueueWorkerOptions, link: QueueLink) {
    this.#options = options;
    this.#link = link;
    this.#doer = new ChunkDoer(options);
  }

  /** @throws an error of this machine, such as a full disk */
  async run(): Promise<void> {
    const { Worker } = await loadBullmq();
    const queue = await openQueue(this.#link);
    const runOf = (plan: string) => new ChunkQueue(this.#link, queue, plan);
    const { lockMs, signal } = this.#options;
    const worker = new Worker<ChunkTask, boolean>(
      queueName,
      (job, token = "") => this.#process(job, token, runOf(job.data.plan)),
      {
        connection: this.#link.redis,
        prefix: queuePrefix,
        skipVersionCheck: true,
        lockDuration: lockMs,
        stalledInterval: Math.round(lockMs / 3),
        maxStalledCount,
        runRetryDelay: retryMs,
        concurrency: 1,
      },
    );
    // The connection reports its own faults; a lost lock has its own event.
    worker.on("error", () => undefined);
    worker.on("lockRenewalFailed", () => this.#ending?.abort(lockLost));
    const stopped = AbortSignal.any([signal, this.#faulty.signal]);
    if (!stopped.aborted) await once(stopped, "abort");
    await inSeconds(partingSeconds, worker.close());
    await this.#doer.close();
    if (this.#faulty.signal.aborted) throw this.#faulty.signal.reason;
  }

  async #process(job: ChunkJobOfQueue, token: string, run: ChunkQueue): Promise<boolean> {
    const { onWarning } = this.#options;
    const stopped = this.#options.signal;
    const ending = new AbortController();
    this.#ending = ending;
    const signal = AbortSignal.any([stopped, this.#faulty.signal, ending.signal]);
    try {
      return await this.#doer.do({ job, token, ending, signal, run });
    } catch (error) {
      if (ending.signal.reason === lockLost) {
        const { chunk } = job.data;
        onWarning(`chunk ${chunk}: its lock was lost, so its output is rejected`);
      } else if (!stopped.aborted) {
        if (ending.signal.reason === runStopped) return false;
        if (isOfRun(error)) {
          await run.fail(located(error), job.data.attempt);
          throw error;
        }
        this.#faulty.abort(error);
      }
      return await handBack(job, token);
    } finally {
      this.#ending = null;
    }
  }
}

/** Lets another worker take the chunk, unless one has it already. */
async function handBack(job: ChunkJobOfQueue, token: string): Promise<never> {
  const { WaitingError } = await loadBullmq();
  await job.moveToWait(token).catch(() => undefined);
  throw new WaitingError();
}
