import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import type { Priority } from "../../store/redis/redis-address.js";
import type { RunProgress } from "../../run/types.js";
import { loadBullmq, type QueueLink } from "./queue-link.js";
import type { ReputeError } from "../../core/errors.js";
import { receiveError, sendError, type SentError } from "./sent-error.js";

/** The braces keep all keys in one slot of a cluster. */
export const queuePrefix = "{repute}";
export const queueName = "chunks";

/** A chunk in the queue. Workers find everything else in the work folder. */
export interface ChunkTask {
  /** Absolute path of the work folder. */
  readonly work: string;
  readonly plan: string;
  /** How often the run had been resumed when the chunk was queued. */
  readonly attempt: number;
  readonly chunk: number;
}

/** A job in the queue. Its value is false if its run was stopped before the chunk was done. */
export type ChunkJobOfQueue = Job<ChunkTask, boolean>;

/** How long the marks of a run are kept that nobody removes, in seconds. */
const markSeconds = 86_400;

/** How long a finished job is kept for its coordinator, in seconds. The work folder has its result. */
const finishedSeconds = 600;

/** Finished jobs looked at in one turn. */
const mostFinished = 1_000;

/** Jobs that are added, looked for or removed with one message. */
const batch = 500;

/** Events in Redis. BullMQ keeps 10,000 otherwise, each with a whole progress. */
const mostEvents = 100;

const order: Readonly<Record<Priority, number>> = { high: 1, normal: 2, low: 3 };

/** Name in Redis of a mark of a run. */
export function runKey(plan: string, name: "lease" | "stop" | `error:${number}`): string {
  return `${queuePrefix}:run:${plan}:${name}`;
}

/** The queue of all runs, as a part of BullMQ. */
export async function openQueue({ redis }: QueueLink): Promise<Queue<ChunkTask>> {
  const { Queue } = await loadBullmq();
  const queue = new Queue<ChunkTask>(queueName, {
    connection: redis,
    prefix: queuePrefix,
    skipVersionCheck: true,
    streams: { events: { maxLen: mostEvents } },
  });
  // The connection reports its own faults.
  queue.on("error", () => undefined);
  return queue;
}

/** The marks of a run in Redis, and its chunks in the queue. All of it can be lost. */
export class ChunkQueue {
  readonly #redis: Redis;
  readonly #queue: Queue<ChunkTask>;
  readonly #plan: string;

  constructor({ redis }: QueueLink, queue: Queue<ChunkTask>, plan: string) {
    this.#redis = redis;
    this.#queue = queue;
    this.#plan = plan;
  }

  /** Queues chunks. Those that are in the queue already stay as they are. */
  async submit(
    { work, attempt }: Pick<ChunkTask, "work" | "attempt">,
    chunks: readonly number[],
    priority: Priority,
  ): Promise<void> {
    const jobs = chunks.map((chunk) => ({
      name: "chunk",
      data: { work, plan: this.#plan, attempt, chunk },
      opts: {
        jobId: this.#idOf(chunk),
        attempts: 1,
        priority: order[priority],
        removeOnComplete: { age: finishedSeconds },
        removeOnFail: { age: finishedSeconds },
      },
    }));
    for (let n = 0; n < jobs.length; n += batch) {
      await this.#queue.addBulk(jobs.slice(n, n + batch));
    }
  }

  /** The run's jobs that a worker has in hand. */
  async active(): Promise<readonly ChunkJobOfQueue[]> {
    return this.#own(await this.#queue.getJobs(["active"]));
  }

  /** The run's latest jobs that are finished, done or not. */
  async finished(): Promise<readonly ChunkJobOfQueue[]> {
    return this.#own(await this.#queue.getJobs(["completed", "failed"], 0, mostFinished - 1));
  }

  #own(jobs: readonly (Job<ChunkTask> | undefined)[]): readonly ChunkJobOfQueue[] {
    // A job may vanish between the list and its data.
    return jobs.flatMap((job) => (job?.data?.plan === this.#plan ? job : []));
  }

  /** Those chunks that are not in the queue in any state. */
  async missing(chunks: readonly number[]): Promise<readonly number[]> {
    const found: number[] = [];
    for (let n = 0; n < chunks.length; n += batch) {
      const some = chunks.slice(n, n + batch);
      const exists = await Promise.all(
        some.map((chunk) => this.#redis.exists(this.#queue.toKey(this.#idOf(chunk)))),
      );
      found.push(...some.filter((_, index) => exists[index] === 0));
    }
    return found;
  }

  /** Removes chunks that no worker has in hand. */
  async remove(chunks: readonly number[]): Promise<void> {
    for (let n = 0; n < chunks.length; n += batch) {
      const some = chunks.slice(n, n + batch);
      await Promise.all(some.map((chunk) => this.#queue.remove(this.#idOf(chunk))));
    }
  }

  /** The token of the worker that holds a chunk's lock; null for none. */
  holder(chunk: number): Promise<string | null> {
    return this.#redis.get(`${this.#queue.toKey(this.#idOf(chunk))}:lock`);
  }

  /** Number of workers that are connected, for any run. */
  workers(): Promise<number> {
    return this.#queue.getWorkersCount();
  }

  /** Whether a coordinator has the lease of the run. */
  async isLed(): Promise<boolean> {
    return (await this.#redis.exists(runKey(this.#plan, "lease"))) > 0;
  }

  /** Tells the workers to leave the run's chunks. */
  async stop(): Promise<void> {
    await this.#redis.set(runKey(this.#plan, "stop"), "1", "EX", markSeconds);
  }

  async isStopped(): Promise<boolean> {
    return (await this.#redis.exists(runKey(this.#plan, "stop"))) > 0;
  }

  /** Reports an error that ends this attempt of the run; the first one counts. */
  async fail(error: ReputeError, attempt: number): Promise<void> {
    const text = JSON.stringify(sendError(error));
    await this.#redis.set(runKey(this.#plan, `error:${attempt}`), text, "EX", markSeconds, "NX");
  }

  async error(attempt: number): Promise<ReputeError | null> {
    const text = await this.#redis.get(runKey(this.#plan, `error:${attempt}`));
    return text === null ? null : receiveError(JSON.parse(text) as SentError);
  }

  /** Removes the mark of an earlier coordinator. */
  async begin(): Promise<void> {
    await this.#redis.del(runKey(this.#plan, "stop"));
  }

  #idOf(chunk: number): string {
    return `${this.#plan}.${chunk}`;
  }
}

/** The progress that a worker reported; null if none has yet. */
export function reportedProgress({ progress }: ChunkJobOfQueue): RunProgress | null {
  return typeof progress === "object" && "rowsRead" in progress
    ? (progress as unknown as RunProgress)
    : null;
}
