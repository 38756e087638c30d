import { setTimeout as delay } from "node:timers/promises";
import type { QueueEvents } from "bullmq";
import { AbortGroups, type Leave } from "../../core/abort.js";
import type { Clock } from "../../core/clock.js";
import { EarlyEndError, type FatalError } from "../../core/errors.js";
import { TransportError } from "../api/http/transport-error.js";
import type { Receiver, RequestOptions, Requests } from "../api/types.js";
import {
  jobIdOf,
  type WorkerAnswer,
  openEvents,
  type OpenQueue,
  openQueue,
  type QueueAddress,
  unpack,
} from "./lookup-queue.js";
import { QueueWatch, type QueueWatchOptions } from "./queue-watch.js";
import { isRedisRefusal, type RedisConnection, redisRefused } from "../../core/redis/connection.js";

export type WorkerRequestsOptions = QueueAddress & QueueWatchOptions;

/** How long requests are gathered, in milliseconds, and how many are queued with one message. */
const gather = { ms: 3, most: 500 };

/** Milliseconds between looks at the queue, for which a request may have no event, and of a long pause. */
const times = { lookMs: 1_000, quietMs: 5_000, longPauseMs: 10_000 };

interface Waiter {
  readonly receiver: Receiver;
  /** Aborts when the request is not wanted any more, unless a worker has it. */
  readonly stop: AbortSignal;
  leave: Leave;
}

interface OpenRequest {
  readonly path: string;
  readonly isUrgent: boolean;
  readonly waiters: Set<Waiter>;
  /** When it was queued or last looked at, on the monotonic clock; null before. */
  seenAt: number | null;
  /** Whether the last look did not find it. */
  isMissing: boolean;
}

/**
 * Requests that workers make, on whatever machines: each is a job in a queue, and equal ones are one.
 * Redis may lose everything at any time: what is open here is queued again.
 */
export class WorkerRequests implements Requests {
  readonly #clock: Clock;
  readonly #connection: RedisConnection;
  readonly #queue: OpenQueue["queue"];
  readonly #watch: QueueWatch;
  readonly #openEvents: typeof openEvents;
  /** What workers say; nothing is queued before it is heard. */
  #events: QueueEvents | null = null;
  readonly #open = new Map<string, OpenRequest>();
  readonly #aborts = new AbortGroups();
  readonly #closed = new AbortController();
  #isSending = false;
  #hasQueued = false;
  #ended: FatalError | null = null;

  /** @throws UsageError `driver_missing`; FatalError `redis_refused` */
  static async open(options: WorkerRequestsOptions): Promise<WorkerRequests> {
    return new WorkerRequests(options, await openQueue(options));
  }

  /** @param listen opens the events of a queue */
  constructor(options: WorkerRequestsOptions, open: OpenQueue, listen = openEvents) {
    this.#clock = options.clock;
    this.#openEvents = listen;
    this.#connection = open.connection;
    this.#queue = open.queue;
    this.#watch = new QueueWatch(options, open);
    void this.#repeat();
  }

  /** A client's requests; all of them share this queue. */
  open(): Requests {
    return this;
  }

  get(path: string, signal: AbortSignal, receiver: Receiver, options: RequestOptions = {}): void {
    const { nth = 1, stop = signal, isUrgent = false } = options;
    const refusal = [signal, stop].find(({ aborted }) => aborted)?.reason ?? this.#ended;
    if (refusal !== null) return receiver.failed(refusal);
    const id = jobIdOf(path, nth);
    const known = this.#open.get(id);
    const request = known ?? { path, isUrgent, waiters: new Set(), seenAt: null, isMissing: false };
    this.#open.set(id, request);
    const waiter: Waiter = { receiver, stop, leave: ignore };
    request.waiters.add(waiter);
    const onCancel = (reason: unknown): void => this.#cancel(id, waiter, reason);
    const onStop = (reason: unknown): void => void this.#withdraw(id, reason).catch(ignore);
    const leaves = [
      this.#aborts.join(signal, { abort: onCancel }),
      this.#aborts.join(stop, { abort: onStop }),
    ];
    waiter.leave = () => leaves.forEach((leave) => leave());
    if (known === undefined) this.#sendSoon();
  }

  /** Takes back what nobody works on, and closes the connections. */
  async destroy(): Promise<void> {
    this.#closed.abort();
    const removed = Promise.all(Array.from(this.#open.keys(), (id) => this.#queue.remove(id)));
    const events = this.#events?.close();
    // Redis may be away.
    const late = delay(times.lookMs, undefined, { ref: false });
    await Promise.race([Promise.allSettled([removed, events]), late]);
    this.#connection.close();
  }

  async #listen(): Promise<QueueEvents> {
    const events = await this.#openEvents(this.#connection, this.#queue);
    events.on("active", this.#watch.isAlive);
    events.on("completed", ({ jobId, returnvalue }) => {
      this.#watch.isAlive();
      this.#settle(jobId, returnvalue);
    });
    events.on("failed", ({ jobId, failedReason }) => {
      const message = `the workers gave up on it: ${failedReason}`;
      this.#settle(jobId, { fault: "connection_reset", message, status: null });
    });
    // It may have been completed before: then there is no other event.
    events.on("duplicated", ({ jobId }) => void this.#look([jobId]).catch(ignore));
    return events;
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setTimeout(() => void this.#send(), gather.ms);
  }

  /** Queues what is not queued. What fails is queued with the next look. */
  async #send(): Promise<void> {
    let some: (readonly [id: string, OpenRequest])[] = [];
    try {
      this.#events ??= await this.#listen();
      this.#isSending = false;
      const unsent = [...this.#open].filter(([, { seenAt }]) => seenAt === null);
      while ((some = unsent.splice(0, gather.most)).length > 0) {
        const seenAt = this.#clock.monotonic();
        for (const [, request] of some) request.seenAt = seenAt;
        await this.#queue.addBulk(
          some.map(([jobId, { path, isUrgent }]) => {
            // A person waits for an urgent one.
            const opts = isUrgent ? { jobId, lifo: true } : { jobId };
            return { name: "lookup", data: { path }, opts };
          }),
        );
        this.#hasQueued = true;
        this.#watch.fault = null;
      }
    } catch (error) {
      this.#isSending = false;
      for (const [, request] of some) request.seenAt = null;
      this.#watch.fault = error as Error;
      if (this.#hasQueued || !isRedisRefusal(error as Error)) return;
      this.#end(redisRefused(this.#connection.shown, error as Error));
    }
  }

  #settle(id: string, result: WorkerAnswer): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    const outcome = unpack(result);
    for (const { receiver, leave } of request.waiters) {
      leave();
      if (outcome instanceof TransportError) receiver.failed(outcome);
      else receiver.answered(outcome);
    }
  }

  #cancel(id: string, waiter: Waiter, reason: unknown): void {
    const request = this.#open.get(id);
    if (request?.waiters.delete(waiter) !== true) return;
    waiter.leave();
    if (request.waiters.size === 0) {
      this.#open.delete(id);
      void this.#queue.remove(id).catch(ignore);
    }
    waiter.receiver.failed(reason);
  }

  /** Takes a request back unless a worker has it or has answered it. */
  async #withdraw(id: string, reason: unknown): Promise<void> {
    const request = this.#open.get(id);
    if (request === undefined) return;
    // What a quota or budget has counted is asked, unless the service's own quota is used up.
    const isCounted = reason instanceof EarlyEndError && reason.code !== "deadline_reached";
    if (isCounted && (await this.#queue.getRateLimitTtl()) < times.longPauseMs) return;
    if (request.seenAt !== null) {
      await this.#look([id]);
      if (!this.#open.has(id) || (await this.#queue.remove(id)) === 0) return;
    }
    // Others in this process may want it, as may other runs, which queue it again.
    request.seenAt = null;
    for (const waiter of request.waiters) {
      if (waiter.stop.aborted) this.#cancel(id, waiter, waiter.stop.reason);
    }
  }

  /** Takes the answers of requests, and queues those again that Redis has lost. */
  async #look(ids: readonly string[]): Promise<void> {
    const open = ids.filter((id) => this.#open.has(id));
    const jobs = await Promise.all(open.map((id) => this.#queue.getJob(id)));
    for (const [at, id] of open.entries()) {
      const job = jobs[at];
      const request = this.#open.get(id);
      if (request === undefined) continue;
      const isLost = job === undefined && request.isMissing;
      request.isMissing = job === undefined && !isLost;
      // The event of an answer that is not kept may be on its way: the next look tells.
      if (request.isMissing) continue;
      request.seenAt = isLost ? null : this.#clock.monotonic();
      if (job?.finishedOn !== undefined && job.returnvalue !== null) {
        this.#settle(id, job.returnvalue);
      }
    }
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#closed;
    let looking: Promise<void> | null = null;
    while (!signal.aborted) {
      // Nothing here waits for Redis, which may be away.
      looking ??= this.#lookAtQuiet()
        .catch(ignore)
        .then(() => void (looking = null));
      const end = this.#watch.judge(this.#open.size > 0);
      if (end !== null) this.#end(end);
      await this.#clock.sleep(times.lookMs, signal).catch(ignore);
    }
  }

  async #lookAtQuiet(): Promise<void> {
    if (this.#open.size === 0) return;
    await this.#watch.ask();
    const before = this.#clock.monotonic() - times.quietMs;
    const isQuiet = ({ seenAt }: OpenRequest): boolean => seenAt !== null && seenAt < before;
    await this.#look([...this.#open].flatMap(([id, request]) => (isQuiet(request) ? id : [])));
    this.#sendSoon();
  }

  #end(error: FatalError): void {
    this.#ended = error;
    for (const [id, { waiters }] of this.#open) {
      for (const waiter of waiters) this.#cancel(id, waiter, error);
    }
  }
}

/** The connection reports its own faults. */
const ignore = (): void => undefined;
