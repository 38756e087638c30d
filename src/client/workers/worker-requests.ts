import { setTimeout as delay } from "node:timers/promises";
import type { QueueEvents } from "bullmq";
import { AbortGroups, type Leave } from "../../core/abort.js";
import type { Clock } from "../../core/clock.js";
import { continueRun, EarlyEndError, FatalError } from "../../core/errors.js";
import { formatSeconds } from "../../core/wording/quantity.js";
import { TransportError } from "../api/http/transport-error.js";
import type { Receiver, RequestOptions, Requests } from "../api/types.js";
import { jobIdOf, type WorkerAnswer, type OpenQueue, unpack } from "./lookup-queue.js";
import { faultText, redisRefusal } from "../../core/redis.js";

/**
 * Milliseconds for which requests are gathered, between looks at the queue, for which a request may have
 * no event, and of a long pause.
 */
const times = { gather: 3, look: 1_000, quiet: 5_000, longPause: 10_000 };

interface QueueWatchOptions {
  readonly baseUrl: string;
  /** How long to wait for workers and for Redis, in milliseconds. */
  readonly patienceMs: number;
  readonly clock: Clock;
  readonly onWarning: (message: string) => void;
}

interface OpenRequest {
  readonly waiters: Map<Receiver, Leave>;
  /** When it was queued or last looked at, on the monotonic clock; null before. */
  seenAt: number | null;
  /** Whether the last look did not find it. */
  isMissing: boolean;
}

/**
 * Requests that workers make, on whatever machines: each is a job in a queue, and equal ones are one.
 * Redis may lose everything at any time: open requests are queued again.
 */
export class WorkerRequests implements Requests {
  readonly #clock: Clock;
  readonly #shared: OpenQueue;
  readonly #watch: QueueWatch;
  /** Answers of workers; opened before anything is queued. */
  #events: QueueEvents | null = null;
  readonly #open = new Map<string, OpenRequest>();
  readonly #aborts = new AbortGroups();
  readonly #closed = new AbortController();
  #isSending = false;
  #hasQueued = false;
  #ended: FatalError | null = null;

  constructor(options: QueueWatchOptions, shared: OpenQueue) {
    this.#clock = options.clock;
    this.#shared = shared;
    this.#watch = new QueueWatch(options, shared);
    void this.#everySecond(() => this.#lookAtQuiet());
    // Does not wait for Redis, which may be away.
    void this.#everySecond(async () => this.#end(this.#watch.judge(this.#open.size > 0)));
  }

  /** A client's requests; all of them share this queue. */
  open(): Requests {
    return this;
  }

  get(path: string, signal: AbortSignal, receiver: Receiver, options: RequestOptions = {}): void {
    const { nth = 1, stop = signal } = options;
    const isStopped = stop.aborted && !isCounted(stop.reason);
    const refusal = signal.aborted ? signal.reason : isStopped ? stop.reason : this.#ended;
    if (refusal !== null) return receiver.failed(refusal);
    const id = jobIdOf(path, nth);
    const fresh: OpenRequest = { waiters: new Map(), seenAt: null, isMissing: false };
    const request = this.#open.get(id) ?? fresh;
    this.#open.set(id, request);
    if (request.seenAt === null) this.#sendSoon();
    const cancel = (reason: unknown): void => this.#cancel(id, receiver, reason);
    const withdraw = (reason: unknown): void =>
      void this.#withdraw(id, receiver, reason).catch(ignore);
    const leaves = [
      this.#aborts.join(signal, { abort: cancel }),
      this.#aborts.join(stop, { abort: withdraw }),
    ];
    request.waiters.set(receiver, () => leaves.forEach((leave) => leave()));
  }

  /** Removes requests that no worker has taken, and closes the connections. */
  async destroy(): Promise<void> {
    this.#closed.abort();
    const removed = Array.from(this.#open.keys(), (id) => this.#shared.queue.remove(id));
    // Redis may be away.
    const late = delay(times.look, undefined, { ref: false });
    await Promise.race([Promise.allSettled([...removed, this.#events?.close()]), late]);
    this.#shared.connection.close();
  }

  async #listen(): Promise<QueueEvents> {
    const events = await this.#shared.listen();
    events.on("active", this.#watch.isAlive);
    events.on("completed", ({ jobId, returnvalue }) => {
      this.#watch.isAlive();
      this.#settle(jobId, returnvalue);
    });
    events.on("failed", ({ jobId, failedReason }) => {
      const message = `the workers gave up on it: ${failedReason}`;
      this.#settle(jobId, { fault: "connection_reset", message, status: null });
    });
    // It may be complete already: then no other event follows.
    events.on("duplicated", ({ jobId }) => void this.#look([jobId]).catch(ignore));
    return events;
  }

  #sendSoon(): void {
    if (this.#isSending) return;
    this.#isSending = true;
    setTimeout(() => void this.#send(), times.gather);
  }

  /** Queues new requests. If that fails, the next look queues them. */
  async #send(): Promise<void> {
    let unsent: (readonly [id: string, OpenRequest])[] = [];
    try {
      this.#events ??= await this.#listen();
      this.#isSending = false;
      unsent = [...this.#open].filter(([, { seenAt }]) => seenAt === null);
      if (unsent.length === 0) return;
      const jobs = unsent.map(([jobId]) => ({ name: "lookup", data: null, opts: { jobId } }));
      for (const [, request] of unsent) request.seenAt = this.#clock.monotonic();
      await this.#shared.queue.addBulk(jobs);
      this.#hasQueued = true;
      this.#watch.fault = null;
    } catch (error) {
      this.#isSending = false;
      for (const [, request] of unsent) request.seenAt = null;
      this.#watch.fault = error as Error;
      const { shown } = this.#shared.connection;
      if (!this.#hasQueued) this.#end(redisRefusal(shown, error as Error));
    }
  }

  #settle(id: string, result: WorkerAnswer): void {
    const request = this.#open.get(id);
    if (request === undefined) return;
    this.#open.delete(id);
    const outcome = unpack(result);
    for (const [receiver, leave] of request.waiters) {
      leave();
      if (outcome instanceof TransportError) receiver.failed(outcome);
      else receiver.answered(outcome);
    }
  }

  #cancel(id: string, receiver: Receiver, reason: unknown): void {
    const waiters = this.#open.get(id)?.waiters;
    waiters?.get(receiver)?.();
    if (waiters?.delete(receiver) !== true) return;
    if (waiters.size === 0) {
      this.#open.delete(id);
      void this.#shared.queue.remove(id).catch(ignore);
    }
    receiver.failed(reason);
  }

  /** Takes a request back unless a worker has it. */
  async #withdraw(id: string, receiver: Receiver, reason: unknown): Promise<void> {
    const request = this.#open.get(id);
    // Asked, unless the service's own quota is used up.
    if (isCounted(reason) && (await this.#shared.queue.getRateLimitTtl()) < times.longPause) return;
    const isQueued = request?.waiters.size === 1 && request.seenAt !== null;
    if (isQueued && (await this.#shared.queue.remove(id)) === 0) return;
    this.#cancel(id, receiver, reason);
  }

  /** Takes the answers of requests, and queues those again that Redis has lost. */
  async #look(ids: readonly string[]): Promise<void> {
    const looks = ids.map(async (id) => [id, await this.#shared.queue.getJob(id)] as const);
    for (const [id, job] of await Promise.all(looks)) {
      const request = this.#open.get(id);
      if (request === undefined) continue;
      const isLost = job === undefined && request.isMissing;
      request.isMissing = job === undefined && !isLost;
      // Its event may still be on its way: the next look decides.
      if (!request.isMissing) request.seenAt = isLost ? null : this.#clock.monotonic();
      if (job?.finishedOn !== undefined && job.returnvalue !== null)
        this.#settle(id, job.returnvalue);
    }
  }

  async #everySecond(what: () => Promise<void>): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await what().catch(ignore);
      await this.#clock.sleep(times.look, signal).catch(ignore);
    }
  }

  async #lookAtQuiet(): Promise<void> {
    if (this.#open.size === 0) return;
    await this.#watch.ask();
    const before = this.#clock.monotonic() - times.quiet;
    const isQuiet = ({ seenAt }: OpenRequest): boolean => seenAt !== null && seenAt < before;
    await this.#look([...this.#open].flatMap(([id, request]) => (isQuiet(request) ? id : [])));
    this.#sendSoon();
  }

  #end(error: FatalError | null): void {
    if (error === null) return;
    this.#ended = error;
    for (const [id, { waiters }] of this.#open) {
      for (const receiver of waiters.keys()) this.#cancel(id, receiver, error);
    }
  }
}

/** Whether a quota or budget has counted the requests that a run was stopped with. */
function isCounted(reason: unknown): boolean {
  return reason instanceof EarlyEndError && reason.code !== "deadline_reached";
}

/** The connection reports its own faults. */
const ignore = (): void => undefined;

/** Silence after which Redis, or the workers, count as away. */
const silenceMs = { redis: 4_000, workers: 120_000 };

/** Notices when lookups wait for Redis or for workers, says so, and loses patience. */
class QueueWatch {
  /** Why Redis took no lookup last; null once it does. */
  fault: Error | null = null;
  readonly #options: QueueWatchOptions;
  readonly #open: OpenQueue;
  /** Number of connected workers; null if unknown. */
  #workers: number | null = null;
  /** Whether Redis has ever answered: opening the queue has waited for it. */
  #isReached: boolean;
  /** When Redis last answered, and when workers last took or answered a lookup. */
  #redisAt: number;
  #workersAt: number;
  /** Since when there has been trouble; null for none. */
  #since: number | null = null;

  constructor(options: QueueWatchOptions, open: OpenQueue) {
    this.#options = options;
    this.#open = open;
    this.#redisAt = this.#workersAt = options.clock.monotonic();
    this.#isReached = open.connection.redis.status === "ready";
  }

  /** A worker has taken or answered a lookup. */
  readonly isAlive = (): void => void (this.#workersAt = this.#options.clock.monotonic());

  /** Asks Redis for workers; it may be away for long. */
  async ask(): Promise<void> {
    const { queue } = this.#open;
    const workers = queue.getWorkersCount().catch(() => null);
    if ((await queue.getRateLimitTtl()) > 0) this.isAlive();
    this.#workers = await workers;
    this.#isReached = true;
    this.#redisAt = this.#options.clock.monotonic();
  }

  /**
   * Judges whether the wait has become hopeless.
   *
   * @param isWaiting whether any lookup is open
   * @returns the error that ends the run once the patience is over
   */
  judge(isWaiting: boolean): FatalError | null {
    const { patienceMs, onWarning, clock } = this.#options;
    const now = clock.monotonic();
    if (!isWaiting) this.#redisAt = this.#workersAt = now;
    const trouble = isWaiting ? this.#troubleAt(now) : null;
    const waited = formatSeconds(Math.round((now - (this.#since ?? now)) / 1000));
    if (trouble === null) {
      if (this.#since !== null) onWarning(`workers answer again after ${waited}`);
      this.#since = null;
      return null;
    }
    if (this.#since === null)
      onWarning(`${trouble}; waiting for up to ${formatSeconds(patienceMs / 1000)}`);
    if (now - (this.#since ??= now) < patienceMs) return null;
    return new FatalError("workers_away", `${trouble}, for ${waited}`, {
      hint: `${continueRun} when Redis and a worker are there`,
    });
  }

  #troubleAt(now: number): string | null {
    const { shown, lastFault } = this.#open.connection;
    if (this.fault !== null) return `${shown} refuses: ${faultText(this.fault)}`;
    if (!this.#isReached || now - this.#redisAt > silenceMs.redis)
      return `${shown} is away (${lastFault()})`;
    if (this.#workers === 0) {
      return `no worker is connected to ${shown} for this service (repute worker ${shown} --intel-url ${this.#options.baseUrl})`;
    }
    if (now - this.#workersAt > silenceMs.workers) return `the workers at ${shown} do nothing`;
    return null;
  }
}
