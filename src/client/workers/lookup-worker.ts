import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Job, Worker } from "bullmq";
import { Caller, type ClientOptions } from "../api/caller.js";
import { TransportError } from "../api/http/transport-error.js";
import { judge } from "../api/judge.js";
import type { Answer } from "../api/types.js";
import { FatalError } from "../../core/errors.js";
import { lookupEndpoints } from "../../core/finding.js";
import {
  keptSeconds,
  loadBullmq,
  type WorkerAnswer,
  type LookupTask,
  type OpenQueue,
  openQueue,
  pack,
  type QueueAddress,
  queueOptions,
  windowText,
  type RateWindow,
} from "./lookup-queue.js";
import { faultText, isRedisRefusal, redisRefused } from "../../core/redis/connection.js";

export interface LookupWorkerOptions extends QueueAddress, ClientOptions {
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Rate of all workers of the service. */
  readonly rate: RateWindow;
  /** Finishes what is open when it aborts. */
  readonly signal: AbortSignal;
  /** Called every minute with the rate of all. */
  readonly onMinute: (rate: string) => void;
  readonly onNotice: (message: string) => void;
  readonly onWarning: (message: string) => void;
}

/**
 * A worker that is silent for so long has lost its lookups, and how often workers look for such, in
 * milliseconds: another one has them within 30 s.
 */
const silence = { lockDuration: 12_000, stalledInterval: 6_000 };

/** How often a lookup may lose its worker before it fails. */
const maxStalledCount = 20;

/** Pause after a fault of the connection, in milliseconds; BullMQ waits 15 s otherwise. */
const runRetryDelay = 1_000;

/** Bounds of the pause after a throttle answer that names none, in milliseconds. */
const pauses = { firstMs: 100, mostMs: 30_000 };

/** What a worker may take beyond the timeout of a request to stop, in milliseconds. */
const partingMs = 3_000;

/** Answers lookups of any run in the queue, at the rate of all workers of the service together. */
export class LookupWorker {
  readonly #options: LookupWorkerOptions;
  readonly #connection: OpenQueue["connection"];
  readonly #queue: OpenQueue["queue"];
  readonly #caller: Caller;
  /** Aborts when this worker's key is refused. */
  readonly #refused = new AbortController();
  #rate: RateWindow;
  /** Number of pauses so far, and of those since an answer that asked for none. */
  #ticket = 0;
  #streak = 0;

  /** @throws UsageError `driver_missing`, `invalid_credential`; FatalError `redis_refused` */
  static async open(options: LookupWorkerOptions): Promise<LookupWorker> {
    return new LookupWorker(options, await openQueue(options));
  }

  private constructor(options: LookupWorkerOptions, { connection, queue }: OpenQueue) {
    this.#options = options;
    this.#connection = connection;
    this.#queue = queue;
    this.#caller = new Caller("intel", options, options.apiKey ?? undefined);
    this.#rate = options.rate;
  }

  /**
   * Works until the signal aborts, and finishes what is open then.
   *
   * @throws FatalError `unauthorized`, `forbidden`, `redis_refused`
   */
  async run(): Promise<void> {
    const { signal, timeoutMs } = this.#options;
    const stopped = AbortSignal.any([signal, this.#refused.signal]);
    let worker: Worker | null = null;
    try {
      await Promise.race([this.#setRate(), aborted(stopped)]);
      if (stopped.aborted) return;
      worker = await this.#start();
      void this.#repeat(stopped).catch(() => undefined);
      await aborted(stopped);
    } finally {
      const late = delay(timeoutMs + partingMs, undefined, { ref: false });
      await Promise.race([worker?.close().catch(() => undefined), late]);
      this.#connection.close();
    }
    if (this.#refused.signal.aborted) throw this.#refused.signal.reason;
  }

  async #start(): Promise<Worker> {
    const { concurrency, rate: limiter, onNotice, onWarning } = this.#options;
    const { redis, shown } = this.#connection;
    const { Worker } = await loadBullmq();
    const worker = new Worker<LookupTask, WorkerAnswer>(
      this.#queue.name,
      (job) => this.#lookUp(job),
      {
        ...queueOptions(this.#connection),
        ...silence,
        concurrency,
        // Holds even if Redis loses the rate of all.
        limiter,
        maxStalledCount,
        removeOnComplete: { age: keptSeconds },
        removeOnFail: { count: 0 },
        runRetryDelay,
      },
    );
    worker.on("error", (error: Error) => {
      const text = faultText(error);
      // A lost lock is another worker's gain.
      if (!/^(?:could not renew|Missing|Lock)/i.test(text)) {
        onWarning(`${shown}: ${text}`);
      }
    });
    redis.on("error", (error) =>
      onWarning(`${shown} is away (${faultText(error)}); waiting for it`),
    );
    const at = `${windowText(limiter)}, ${concurrency} at once`;
    worker.on("ready", () => onNotice(`answering lookups at ${at}; Ctrl-C to stop`));
    return worker;
  }

  /** Sets the rate of all workers, and says so if they had another one. */
  async #setRate(): Promise<void> {
    try {
      const before = await this.#queue.getGlobalRateLimit();
      await this.#queue.setGlobalRateLimit(this.#rate.max, this.#rate.duration);
      const [was, is] = [before && windowText(before), windowText(this.#rate)];
      if (was === null || was === is) return;
      this.#options.onNotice(`the rate of all workers of this service is ${is} now, was ${was}`);
    } catch (error) {
      if (isRedisRefusal(error as Error))
        throw redisRefused(this.#connection.shown, error as Error);
      throw error;
    }
  }

  async #lookUp(job: Job<LookupTask, WorkerAnswer>): Promise<WorkerAnswer> {
    const { path } = job.data;
    const endpoint = lookupEndpoints.find((name) => path.startsWith(`/${name}/`)) ?? "query";
    const ticket = this.#ticket;
    // What is open is finished, whatever stops the worker.
    const { signal } = new AbortController();
    const outcome = await this.#caller.send(endpoint, path, signal).catch((error: unknown) => {
      if (error instanceof TransportError) return error;
      throw error;
    });
    const again = this.#againAfter(endpoint, outcome);
    // Another attempt must not find this answer.
    if (again !== null) job.opts.removeOnComplete = true;
    if (again === "refused") return pack(outcome);
    if (again?.policy === "throttled") await this.#pause(again.afterMs, ticket);
    else this.#streak = 0;
    return pack(outcome);
  }

  /** Why another attempt may help. A refused key ends this worker, and the run that gets the answer. */
  #againAfter(endpoint: (typeof lookupEndpoints)[number], outcome: Answer | TransportError) {
    if (outcome instanceof TransportError) return outcome.again;
    if (outcome.status === 200) return null;
    try {
      return judge({ endpoint, item: null }, outcome, this.#caller.context).again;
    } catch (error) {
      if (!(error instanceof FatalError)) throw error;
      this.#refused.abort(error);
      return "refused";
    }
  }

  /** Pauses all workers. @param afterMs what the service asked for, or null */
  async #pause(afterMs: number | null, ticket: number): Promise<void> {
    // Throttle answers of the same moment are no news.
    if (afterMs === null && ticket !== this.#ticket) return;
    this.#ticket++;
    const ms = afterMs ?? Math.min(pauses.mostMs, pauses.firstMs * 2 ** this.#streak++);
    // Another worker may have heard of a longer one.
    const left = await this.#queue.getRateLimitTtl().catch(() => 0);
    if (ms > left) await this.#queue.rateLimit(Math.ceil(ms)).catch(() => undefined);
  }

  /** Every minute: restores the rate of all or takes over another one, and forgets old answers. */
  async #repeat(signal: AbortSignal): Promise<void> {
    const { clock, onNotice, onMinute } = this.#options;
    for (;;) {
      await clock.sleep(60_000, signal);
      onMinute(windowText(this.#rate));
      const { max, duration } = this.#rate;
      const rate = await this.#queue.getGlobalRateLimit();
      if (rate === null) await this.#queue.setGlobalRateLimit(max, duration);
      else if (windowText(rate) !== windowText(this.#rate)) {
        onNotice(`another worker has set the rate of all to ${windowText(rate)}`);
        this.#rate = rate;
      }
      await this.#queue.clean(keptSeconds * 1000, 0, "completed");
    }
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
