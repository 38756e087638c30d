import type { Worker } from "bullmq";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { EarlyEndError, FatalError, ReputeError, UsageError } from "../../core/errors.js";
import type { ErrorCode } from "../../core/error-codes.js";
import { endingOfError } from "../../run/exit-reason.js";
import {
  type ChunkJobOfQueue,
  ChunkQueue,
  type ChunkTask,
  openQueue,
  queueName,
  queuePrefix,
} from "./chunk-queue.js";
import { ChunkDoer, type QueueWorkerOptions } from "./do-chunk.js";
import { HeldLock } from "./held-lock.js";
import { loadBullmq, openQueueLink, type QueueLink } from "./queue-link.js";

/** How often a chunk may lose its worker before the run ends. */
const maxStalledCount = 20;

/** Pause after a fault of the connection, in milliseconds; BullMQ waits 15 s otherwise. */
const retryMs = 1_000;

/** How long a worker that was told to stop waits for Redis. */
const partingMs = 5_000;

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

type ChunkWorker = Worker<ChunkTask, boolean>;

class QueueWorker {
  readonly #options: QueueWorkerOptions;
  readonly #link: QueueLink;
  readonly #doer: ChunkDoer;
  #held: HeldLock | null = null;
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
    const worker: ChunkWorker = new Worker<ChunkTask, boolean>(
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
    worker.on("locksRenewed", () => this.#held?.renewed());
    worker.on("lockRenewalFailed", () => this.#held?.lose());
    const stopped = AbortSignal.any([signal, this.#faulty.signal]);
    await new Promise<void>((resolve) => {
      stopped.addEventListener("abort", () => resolve(), { once: true });
      if (stopped.aborted) resolve();
    });
    await closeWorker(worker);
    await this.#doer.close();
    if (this.#faulty.signal.aborted) throw this.#faulty.signal.reason;
  }

  async #process(job: ChunkJobOfQueue, token: string, run: ChunkQueue): Promise<boolean> {
    const { lockMs, signal, onWarning } = this.#options;
    const held = new HeldLock(lockMs, AbortSignal.any([signal, this.#faulty.signal]));
    this.#held = held;
    try {
      return await this.#doer.do({ job, token, held, run });
    } catch (error) {
      if (held.isLost) {
        const { chunk } = job.data;
        onWarning(`chunk ${chunk}: its lock was lost, so its output is rejected`);
      } else if (!signal.aborted) {
        if (held.isStopped) return false;
        if (isOfRun(error)) {
          await run.fail(located(error), job.data.attempt);
          throw error;
        }
        this.#faulty.abort(error);
      }
      return await handBack(job, token);
    } finally {
      held.close();
      this.#held = null;
    }
  }
}

/** Lets another worker take the chunk, unless one has it already. */
async function handBack(job: ChunkJobOfQueue, token: string): Promise<never> {
  const { WaitingError } = await loadBullmq();
  await job.moveToWait(token).catch(() => undefined);
  throw new WaitingError();
}

/** Waits for the chunk in progress, but not long for Redis, which may be away. */
async function closeWorker(worker: ChunkWorker): Promise<void> {
  const over = new AbortController();
  const late = delay(partingMs, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([worker.close().catch(() => undefined), late]);
  over.abort();
}

/** Faults of one machine: of its disk, memory, settings. Another worker may do better. */
const ofMachine = /^(?:output_|journal_(?!damaged|format)|redis_|driver_|workers_option)/;

/** Whether an error ends the run, as one that every worker would meet: files that are gone, too. */
function isOfRun(error: unknown): boolean {
  if (!(error instanceof ReputeError) || error instanceof EarlyEndError) return true;
  const reason = endingOfError(error, true).exit_reason;
  if (["refused", "wrong_service", "unreachable"].includes(reason)) return true;
  return !ofMachine.test(error.code);
}

const noInput = /^input_(?:not_found|unreadable)$/;

/** The error with the place where it happened. The coordinator could read the input. */
function located(error: unknown): ReputeError {
  if (error instanceof EarlyEndError) return error;
  const known = error instanceof ReputeError ? error : null;
  const text = error instanceof Error ? error.message : String(error);
  const message = `worker ${process.pid} on ${hostname()}: ${text}`;
  if (known !== null && noInput.test(known.code)) {
    const hint =
      "make it readable under the same path on every machine, then continue with --resume";
    return new FatalError(known.code, message, { cause: error, hint });
  }
  const options = { cause: error, ...(known?.hint ? { hint: known.hint } : {}) };
  if (known === null) return new FatalError("worker_failed", message, options);
  const code: ErrorCode = known.code;
  return known instanceof UsageError
    ? new UsageError(code, message, options)
    : new FatalError(code, message, options);
}
