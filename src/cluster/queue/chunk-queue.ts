import type * as Bullmq from "bullmq";
import type { Job, Queue } from "bullmq";
import type { Redis } from "ioredis";
import { setTimeout as delay } from "node:timers/promises";
import { loadDriver } from "../../core/load-driver.js";
import { again, serverOf } from "../../store/redis/connect-options.js";
import type { Priority } from "../../store/redis/redis-address.js";
import { RedisLink } from "../../store/redis/redis-link.js";
import type { RunProgress } from "../../run/types.js";
import type { ReputeError } from "../../core/errors.js";
import { receiveError, sendError, type SentError } from "./sent-error.js";

/** The braces keep all keys in one slot of a cluster. */
export const queuePrefix = "{repute}";
export const queueName = "chunks";

/** A chunk in the queue. Workers find everything else in the work folder. */
export interface ChunkTask {
  readonly work: string;
  readonly plan: string;
  /** Identifies the attempt at the run in which the chunk was queued. */
  readonly attempt: string;
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
export function runKey(plan: string, name: "lease" | "stop" | `error:${string}`): string {
  return `${queuePrefix}:run:${plan}:${name}`;
}

/** A connection for BullMQ, which repeats commands until the server is back. */
export interface QueueLink {
  readonly redis: Redis;
  close(): void;
}

/** @throws UsageError `driver_missing`; FatalError `redis_refused` */
export async function openQueueLink(
  address: string,
  {
    environment,
    onWarning,
  }: {
    readonly environment: Readonly<Record<string, string | undefined>>;
    readonly onWarning: (message: string) => void;
  },
): Promise<QueueLink> {
  await loadBullmq();
  // Tells a refused login from a server that is away.
  const probe = await RedisLink.open(address, { environment });
  probe.close();
  const { shown } = probe.address;
  const { Redis } = await loadDriver("ioredis", () => import("ioredis"), "a redis:// address");
  const redis = new Redis({
    ...serverOf(probe.address),
    protocol: 2,
    connectionName: "repute",
    maxRetriesPerRequest: null,
    retryStrategy: again,
    reconnectOnError: (error) => error.message.startsWith("READONLY"),
  });
  let isAway = false;
  redis.on("error", (error: Error) => {
    if (!isAway) onWarning(`${shown} is away (${error.message}); the queue waits for it`);
    isAway = true;
  });
  redis.on("ready", () => {
    if (isAway) onWarning(`${shown} is back`);
    isAway = false;
  });
  const clients = [redis];
  const duplicate = redis.duplicate.bind(redis);
  // BullMQ does not end the connections that it adds while the server is away.
  redis.duplicate = (override) => {
    const client = duplicate(override);
    clients.push(client);
    return client;
  };
  return { redis, close: () => clients.forEach((client) => client.disconnect()) };
}

export function loadBullmq(): Promise<typeof Bullmq> {
  return loadDriver("bullmq", () => import("bullmq"), "a queue in Redis");
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
  async fail(error: ReputeError, attempt: string): Promise<void> {
    const text = JSON.stringify(sendError(error));
    await this.#redis.set(runKey(this.#plan, `error:${attempt}`), text, "EX", markSeconds, "NX");
  }

  async error(attempt: string): Promise<ReputeError | null> {
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

/** Waits for a last message to Redis, which may be away, but not long. */
export async function inSeconds(seconds: number, message: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const wait = delay(seconds * 1_000, undefined, { signal: over.signal }).catch(() => undefined);
  await Promise.race([message.catch(() => undefined), wait]);
  over.abort();
}
