import { setTimeout as delay } from "node:timers/promises";
import type { RateLimiterOptions, Worker } from "bullmq";
import { Caller, type ClientOptions } from "../api/caller.js";
import { TransportError } from "../api/http/transport-error.js";
import { readAnswer, type ReadContext } from "../api/read-answer.js";
import { ServiceError } from "../api/status-fault.js";
import { rateLimitHintMs } from "../api/rate-limit-headers.js";
import type { Answer } from "../api/types.js";
import { type Again, isOverQuota, lookupEndpoints } from "../../core/finding.js";
import { type LookUp, type OpenQueue, openQueue, type QueueAddress } from "./lookup-queue.js";
import { raceAbort } from "../../core/abort.js";
import type { Rate } from "../../core/options.js";
import { faultText, redisRefusal } from "../../core/redis.js";

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
 * milliseconds: another one has them within 30 s. How often a lookup may lose its worker before it fails,
 * and the pause after a fault of the connection; BullMQ waits 15 s otherwise.
 */
const losses = {
  lockDuration: 12_000,
  stalledInterval: 6_000,
  maxStalledCount: 20,
  runRetryDelay: 1_000,
};

/** How long answers are kept for runs that ask again, in seconds. */
const keptSeconds = 60;

/**
 * Answers lookups of any run in the queue, at the rate of all workers of the service together, until the
 * signal aborts. Finishes open lookups then.
 *
 * @throws UsageError `driver_missing`, `invalid_credential`; FatalError `unauthorized`, `forbidden`,
 *   `redis_refused`
 */
export async function answerLookups(options: LookupWorkerOptions): Promise<void> {
  const { signal, timeoutMs, clock, onMinute } = options;
  const open = await openQueue(options);
  const { connection, queue } = open;
  const { redis, shown, lastFault } = connection;
  const sayAway = (): void =>
    options.onWarning(`${shown} is away (${lastFault()}); waiting for it`);
  redis.on("error", sayAway);
  if (redis.status !== "ready") sayAway();
  const rate = new SharedRate(open, options);
  /** Aborts when this worker's key is refused. */
  const refused = new AbortController();
  const stopped = AbortSignal.any([signal, refused.signal]);
  let worker: Worker | null = null;
  try {
    const lookUp = lookUpWith(options, rate, refused);
    await raceAbort(rate.begin(), stopped);
    worker = startWorker(open, rate, lookUp, options);
    for (let second = 1; ; second++) {
      await clock.sleep(1_000, stopped);
      // Nothing here waits for Redis, which may be away.
      void rate.refresh().catch(ignore);
      if (second % 60 !== 0) continue;
      onMinute(rateText(rate.now));
      void queue.clean(keptSeconds * 1000, 0, "completed").catch(ignore);
    }
  } catch (error) {
    if (!stopped.aborted) throw redisRefusal(shown, error as Error) ?? error;
  } finally {
    const late = delay(timeoutMs + 3_000, undefined, { ref: false });
    await Promise.race([worker?.close().catch(ignore), late]);
    connection.close();
  }
  refused.signal.throwIfAborted();
}

function startWorker(
  { connection: { shown }, work }: OpenQueue,
  rate: SharedRate,
  lookUp: LookUp,
  { concurrency, onNotice, onWarning }: LookupWorkerOptions,
): Worker {
  const worker = work(lookUp, {
    ...losses,
    concurrency,
    limiter: rate.window,
    removeOnComplete: { age: keptSeconds },
    removeOnFail: { count: 0 },
  });
  worker.on("error", (error: Error) => {
    const text = faultText(error);
    // A lost lock is another worker's gain.
    if (!/^(?:could not renew|Missing|Lock)/i.test(text)) onWarning(`${shown}: ${text}`);
  });
  worker.on("ready", () => {
    onNotice(`answering lookups at ${rateText(rate.now)}, ${concurrency} at once; Ctrl-C to stop`);
  });
  return worker;
}

/**
 * Makes requests.
 *
 * @param refused aborts when the key is refused, which ends the run that asks, too
 */
function lookUpWith(
  options: LookupWorkerOptions,
  rate: SharedRate,
  refused: AbortController,
): LookUp {
  const caller = new Caller("intel", options, options.apiKey ?? undefined);
  return async (path) => {
    const endpoint = lookupEndpoints.find((name) => path.startsWith(`/${name}/`)) ?? "query";
    const sentAt = rate.now;
    // Open lookups are finished, whatever stops the worker.
    const { signal } = new AbortController();
    const outcome = await caller.send(endpoint, path, signal).catch((error: unknown) => {
      if (error instanceof TransportError) return error;
      throw error;
    });
    const again = againAfter(outcome, caller.context, refused);
    // Another attempt must not find this answer.
    const isShared = again === null && !refused.signal.aborted;
    if (outcome instanceof TransportError) return { outcome, isShared };
    const isThrottled = again?.policy === "throttled" || isOverQuota({ again });
    const waitMs = isThrottled ? again!.afterMs : rateLimitHintMs(outcome.headers, options.clock);
    rate.isAccepted ||= !isThrottled;
    if (isThrottled || waitMs !== null) await rate.pause(waitMs).catch(ignore);
    // Without a time to wait, 503 says little about the rate.
    const isLimit = isThrottled && (outcome.status === 429 || waitMs !== null);
    if (isLimit) await rate.lower(sentAt).catch(ignore);
    return { outcome, isShared };
  };
}

function againAfter(
  outcome: Answer | TransportError,
  context: ReadContext,
  refused: AbortController,
): Again | null {
  if (outcome instanceof TransportError) return outcome.again;
  if (outcome.status === 200) return null;
  try {
    return readAnswer(outcome, context).again;
  } catch (error) {
    if (error instanceof ServiceError) return error.again;
    refused.abort(error);
    return null;
  }
}

const ignore = (): void => undefined;

/**
 * Milliseconds: of windows, which are short to keep every second near the rate; of a pause without
 * `Retry-After`; and between two steps up.
 */
const times = { window: 50, pause: 100, step: 1_950 };

/** Factors for the rate: after throttling, and for each step up again. */
const factors = { down: 0.8, up: 1.02 };

/**
 * The rate of all workers of a service, in Redis: the given one, and the one in force, which is the limit
 * of BullMQ's queue. A throttle answer pauses all workers and lowers it; without one it rises again.
 * Rates are in attempts per millisecond.
 */
export class SharedRate {
  /** The limit in force. BullMQ reads it for each job, and keeps it if Redis has lost it. */
  readonly window: RateLimiterOptions;
  /** Whether the service has accepted a request since the last refresh. */
  isAccepted = false;
  readonly #open: OpenQueue;
  readonly #onNotice: (message: string) => void;
  #given: number;

  constructor(
    open: OpenQueue,
    { rate, onNotice }: { readonly rate: Rate; readonly onNotice: (message: string) => void },
  ) {
    this.#open = open;
    this.#onNotice = onNotice;
    this.#given = rate.count / rate.perMs;
    this.window = windowOf(this.#given);
  }

  /** The rate in force; dates a request. */
  get now(): number {
    return rateOf(this.window);
  }

  /** Sets the rate of all workers, and says so if they had another one. */
  async begin(): Promise<void> {
    const before = await givenRate(this.#open);
    await this.#give();
    // What the service has throttled stays lower.
    if (before === this.#given) return this.refresh();
    await this.#set(this.window);
    if (before === null) return;
    const [was, is] = [before, this.#given].map(rateText);
    this.#onNotice(`the rate of all workers of this service is ${is} now, was ${was}`);
  }

  /** Follows other workers, and tries a little more if the service answers. Call it every second. */
  async refresh(): Promise<void> {
    const { queue, connection } = this.#open;
    const [given, window] = await Promise.all([givenRate(this.#open), queue.getGlobalRateLimit()]);
    if (given === null) await this.#give();
    else if (given !== this.#given) {
      this.#given = given;
      this.#onNotice(`another worker has set the rate of all to ${rateText(given)}`);
    }
    if (window === null) await this.#set(this.window);
    else Object.assign(this.window, window);
    const { isAccepted } = this;
    this.isAccepted = false;
    const most = windowOf(this.#given);
    if (!isAccepted || this.now === rateOf(most)) return;
    const key = queue.toKey("step");
    if ((await connection.redis.set(key, 1, "PX", times.step, "NX")) === null) return;
    const next = windowOf(factors.up * this.now);
    await this.#set(rateOf(next) < rateOf(most) ? next : most);
  }

  /**
   * Pauses all workers, unless they pause for as long already.
   *
   * @param ms null if nobody says how long
   */
  async pause(ms: number | null): Promise<void> {
    const { queue } = this.#open;
    const pauseMs = Math.ceil(ms ?? times.pause);
    if (pauseMs > (await queue.getRateLimitTtl())) await queue.rateLimit(pauseMs);
  }

  /**
   * Lowers the rate of all workers: once for all requests of one rate.
   *
   * @param sentAt the rate in force when the throttled request was sent
   */
  async lower(sentAt: number): Promise<void> {
    const window = windowOf(factors.down * sentAt);
    Object.assign(this.window, await this.#open.queue.getGlobalRateLimit());
    if (rateOf(window) < this.now) await this.#set(window);
  }

  async #give(): Promise<void> {
    await this.#open.connection.redis.set(this.#open.queue.toKey("rate"), this.#given);
  }

  async #set(window: RateLimiterOptions): Promise<void> {
    Object.assign(this.window, window);
    await this.#open.queue.setGlobalRateLimit(window.max, window.duration);
  }
}

/** The rate that was last given; null before any worker started. */
async function givenRate({ queue, connection }: OpenQueue): Promise<number | null> {
  const rate = await connection.redis.get(queue.toKey("rate"));
  return rate === null ? null : Number(rate);
}

/** The window of a rate: 50 ms, or as long as a single attempt needs. */
function windowOf(rate: number): RateLimiterOptions {
  const max = Math.max(1, Math.floor(rate * times.window + 1e-9));
  return { max, duration: Math.max(1, Math.round(max / rate)) };
}

function rateOf({ max, duration }: RateLimiterOptions): number {
  return max / duration;
}

/** Such as `100/s`, or `5/m` below one a second. */
function rateText(rate: number): string {
  return rate >= 0.001 ? `${Math.round(1_000 * rate)}/s` : `${Math.round(60_000 * rate)}/m`;
}

/** How long Redis may take to tell the state of a queue, in milliseconds. */
const patienceMs = 5_000;

/** Redis and the queue of a service: open lookups, workers, and their rate as text. */
export async function queueState(where: QueueAddress) {
  const shared = await openQueue(where);
  const { connection, queue } = shared;
  const { shown, lastFault } = connection;
  const late = AbortSignal.timeout(patienceMs);
  try {
    const asked = Promise.all([
      queue.getJobCountByTypes("waiting", "active"),
      queue.getWorkersCount(),
      queue.getGlobalRateLimit(),
    ]);
    const [open, workers, window] = await raceAbort(asked, late);
    const rate = window === null ? null : rateText(rateOf(window));
    return { shown, open, workers, rate };
  } catch (error) {
    throw late.aborted ? new Error(`${shown} is away (${lastFault()})`, { cause: error }) : error;
  } finally {
    connection.close();
  }
}
