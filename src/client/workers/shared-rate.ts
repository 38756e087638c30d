import type { RateLimiterOptions } from "bullmq";
import type { Rate } from "../../core/options.js";
import { raceAbort } from "../../core/abort.js";
import { type OpenQueue, openQueue, type QueueAddress } from "./lookup-queue.js";

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
export function rateText(rate: number): string {
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
