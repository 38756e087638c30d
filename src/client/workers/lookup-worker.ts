import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Job, Worker } from "bullmq";
import { Caller, type ClientOptions } from "../api/caller.js";
import { TransportError } from "../api/http/transport-error.js";
import { judge } from "../api/judge.js";
import type { Answer, AttemptReport } from "../api/types.js";
import { FatalError } from "../../core/errors.js";
import { lookupEndpoints, isOverQuota } from "../../core/finding.js";
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
  type RateWindow,
  jobWindow,
  formatRate,
  windowText,
} from "./lookup-queue.js";
import { SharedLimits } from "./shared-limits.js";
import { obeyHints } from "../pace/request-pace.js";
import type { Rate } from "../../core/options.js";
import { faultText, isRedisRefusal, redisRefused } from "../../core/redis/connection.js";

interface LookupWorkerOptions extends QueueAddress, ClientOptions {
  readonly apiKey: string | null;
  readonly timeoutMs: number;
  readonly concurrency: number;
  /** Rate of all workers of the service. */
  readonly rate: Rate;
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
  readonly #limits: SharedLimits;
  #worker: Worker | null = null;
  /** The limit of jobs: holds even if Redis loses that of all. */
  #window: RateWindow;

  /** @throws UsageError `driver_missing`, `invalid_credential`; FatalError `redis_refused` */
  static async open(options: LookupWorkerOptions): Promise<LookupWorker> {
    return new LookupWorker(options, await openQueue(options));
  }

  private constructor(options: LookupWorkerOptions, open: OpenQueue) {
    const { clock, rate, onNotice, onAttempt } = options;
    this.#options = options;
    this.#connection = open.connection;
    this.#queue = open.queue;
    this.#window = jobWindow(rate);
    this.#limits = new SharedLimits(open, {
      rate,
      clock,
      onWindow: (window) => {
        this.#window = window;
        if (this.#worker !== null) this.#worker.opts.limiter = window;
      },
      onRate: (now) => onNotice(`another worker has set the rate of all to ${formatRate(now)}`),
    });
    const heeding = { pace: this.#limits, slots: { answered: ignore, limited: ignore }, clock };
    const reported = (attempt: AttemptReport): void => {
      onAttempt?.(attempt);
      obeyHints(attempt, heeding);
    };
    this.#caller = new Caller(
      "intel",
      { ...options, onAttempt: reported },
      options.apiKey ?? undefined,
    );
  }

  /**
   * Works until the signal aborts, and finishes what is open then.
   *
   * @throws FatalError `unauthorized`, `forbidden`, `redis_refused`
   */
  async run(): Promise<void> {
    const { signal, timeoutMs } = this.#options;
    const stopped = AbortSignal.any([signal, this.#refused.signal]);
    try {
      await Promise.race([this.#setRate(), aborted(stopped)]);
      if (stopped.aborted) return;
      this.#worker = await this.#start();
      for (const repeated of [this.#limits.keep(stopped), this.#tidy(stopped)])
        repeated.catch(ignore);
      await aborted(stopped);
    } finally {
      const late = delay(timeoutMs + partingMs, undefined, { ref: false });
      await Promise.race([this.#worker?.close().catch(ignore), late]);
      this.#connection.close();
    }
    if (this.#refused.signal.aborted) throw this.#refused.signal.reason;
  }

  async #start(): Promise<Worker> {
    const { concurrency, onNotice, onWarning } = this.#options;
    const { redis, shown } = this.#connection;
    const { Worker } = await loadBullmq();
    const worker = new Worker<LookupTask, WorkerAnswer>(
      this.#queue.name,
      (job) => this.#lookUp(job),
      {
        ...queueOptions(this.#connection),
        ...silence,
        concurrency,
        limiter: this.#window,
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
    const at = `${windowText(this.#limits.window)}, ${concurrency} at once`;
    worker.on("ready", () => onNotice(`answering lookups at ${at}; Ctrl-C to stop`));
    return worker;
  }

  /** Sets the rate of all workers, and says so if they had another one. */
  async #setRate(): Promise<void> {
    try {
      const before = await this.#limits.begin();
      const [was, is] = [before && formatRate(before), formatRate(this.#options.rate)];
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
    const { ticket } = this.#limits;
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
    if (again !== null && (again.policy === "throttled" || isOverQuota({ again }))) {
      await this.#limits.throttled(again.afterMs, ticket).catch(ignore);
    } else if (!(outcome instanceof TransportError)) this.#limits.succeeded(ticket);
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

  /** Every minute: reports, and forgets old answers. */
  async #tidy(signal: AbortSignal): Promise<void> {
    const { clock, onMinute } = this.#options;
    for (;;) {
      await clock.sleep(60_000, signal);
      onMinute(windowText(this.#limits.window));
      void this.#queue.clean(keptSeconds * 1000, 0, "completed").catch(ignore);
    }
  }
}

const ignore = (): void => undefined;

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}
