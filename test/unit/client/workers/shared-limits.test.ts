import { describe, expect, test } from "vitest";
import type { OpenQueue, RateWindow } from "../../../../src/client/workers/lookup-queue.js";
import { SharedLimits } from "../../../../src/client/workers/shared-limits.js";
import type { Clock } from "../../../../src/core/clock.js";
import { tokenBucket, type ScriptedServer } from "../../../helpers/pace-simulation.js";
import { seeded } from "../../../helpers/seeded.js";
import { SimulatedTimers } from "../../../helpers/simulated-timers.js";
import { worstSecond } from "../../../helpers/timed-server.js";

/** A reply takes this long, in milliseconds. */
const replyMs = 1;

/** What Redis and BullMQ keep for workers: a hash, and the limit of jobs. */
class SimulatedRedis {
  readonly #timers: SimulatedTimers;
  readonly hash = new Map<string, string>();
  #list: string[] = [];
  #judge = { name: "", until: 0 };
  window: RateWindow | null = null;
  /** Jobs taken in the window, and its end. */
  #taken = 0;
  #until = 0;

  constructor(timers: SimulatedTimers) {
    this.#timers = timers;
  }

  /** A connection to it. Clocks of processes differ. */
  open(): OpenQueue {
    const reply = async <T>(read: () => T): Promise<T> => {
      await this.#timers.sleep(replyMs);
      return read();
    };
    const { hash } = this;
    const redis = {
      hget: (_: string, name: string) => reply(() => hash.get(name) ?? null),
      hmget: (_: string, ...names: string[]) =>
        reply(() => names.map((name) => hash.get(name) ?? null)),
      hset: (_: string, name: string, value: string) => reply(() => hash.set(name, value)),
      rpush: (_: string, ...values: string[]) => reply(() => this.#list.push(...values)),
      lpop: () => reply(() => this.#list.splice(0)),
      set: (_: string, value: string, __: string, ms: number) =>
        reply(() => {
          if (this.#timers.now >= this.#judge.until)
            this.#judge = { name: value, until: this.#timers.now + ms };
        }),
      get: () => reply(() => this.#judge.name),
      pexpire: (_: string, ms: number) => reply(() => (this.#judge.until = this.#timers.now + ms)),
    };
    const queue = {
      toKey: (name: string) => name,
      setGlobalRateLimit: (max: number, duration: number) =>
        reply(() => void (this.window = { max, duration })),
      getRateLimitTtl: () => reply(() => this.#until - this.#timers.now),
      rateLimit: (ms: number) =>
        reply(() => {
          this.#taken = Number.POSITIVE_INFINITY;
          this.#until = this.#timers.now + ms;
        }),
    };
    return { queue, connection: { redis } } as unknown as OpenQueue;
  }

  empty(): void {
    this.hash.clear();
    this.window = null;
    this.#list = [];
    this.#judge = { name: "", until: 0 };
    this.#until = 0;
  }

  /** Takes a job. @returns milliseconds until one may be taken; 0 if one was */
  take(own: RateWindow): number {
    const { now } = this.#timers;
    const { max } = this.window ?? own;
    if (now >= this.#until) this.#taken = 0;
    if (this.#taken >= max) return Math.ceil(this.#until - now);
    if (this.#taken++ === 0) this.#until = now + own.duration;
    return 0;
  }
}

interface Simulated {
  readonly arrivals: readonly { readonly at: number; readonly accepted: boolean }[];
  readonly notices: readonly string[];
}

interface SimulationOptions {
  readonly workers: number;
  readonly rate: number;
  readonly seconds: number;
  readonly server: ScriptedServer;
  readonly retryAfterMs?: number;
  /** When Redis loses everything. */
  readonly emptiedAt?: number;
  /** When the first worker is killed. */
  readonly killedAt?: number;
  /** When there are no jobs. */
  readonly idle?: readonly [from: number, to: number];
  /** Rate of the last worker, which starts a second after the others. */
  readonly laterRate?: number;
}

async function simulate(options: SimulationOptions): Promise<Simulated> {
  const { workers, rate, seconds, server, retryAfterMs = null } = options;
  const { emptiedAt = Infinity, killedAt = Infinity, laterRate, idle } = options;
  const timers = new SimulatedTimers();
  const redis = new SimulatedRedis(timers);
  const random = seeded(7);
  const arrivals: { at: number; accepted: boolean }[] = [];
  const notices: string[] = [];
  const killed = new AbortController();
  const work = async (nth: number): Promise<void> => {
    const clock: Clock = {
      now: () => timers.now,
      monotonic: () => timers.now + 5_000 * nth,
      sleep: (ms, stop) => timers.sleep(ms, stop),
    };
    const isLater = laterRate !== undefined && nth === workers - 1;
    const { signal } = nth === 0 ? killed : new AbortController();
    let window: RateWindow = { max: 1, duration: 1000 };
    const limits = new SharedLimits(redis.open(), {
      rate: { count: isLater ? laterRate : rate, perMs: 1000 },
      clock,
      random,
      onWindow: (now) => (window = now),
      onRate: ({ count }) => notices.push(`${nth} ${count}`),
    });
    await timers.sleep(37 * nth + (isLater ? 1_000 : 0));
    await limits.begin();
    void limits.keep(signal).catch(() => undefined);
    const ask = async (): Promise<void> => {
      const { ticket } = limits;
      const { afterMs, throttled } = server(timers.now, 0);
      arrivals.push({ at: timers.now, accepted: !throttled });
      await timers.sleep(afterMs);
      if (throttled) await limits.throttled(retryAfterMs, ticket);
      else limits.succeeded(ticket);
    };
    while (!signal.aborted) {
      if (idle && timers.now >= idle[0] && timers.now < idle[1]) {
        await timers.sleep(idle[1] - timers.now);
      }
      const wait = redis.take(window);
      if (wait === 0) void ask();
      await timers.sleep(wait + random());
    }
  };
  for (let nth = 0; nth < workers; nth++) void work(nth);
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 24; turn++) await Promise.resolve();
  };
  void timers.sleep(emptiedAt).then(() => redis.empty());
  void timers.sleep(killedAt).then(() => killed.abort());
  await timers.run(seconds * 1000, settle);
  return { arrivals, notices };
}

/** Accepted requests and share of throttled ones after the first seconds. */
function later({ arrivals }: Simulated, fromMs: number, toMs: number) {
  const counted = arrivals.filter(({ at }) => at >= fromMs && at < toMs);
  const accepted = counted.filter((one) => one.accepted).length;
  return {
    perSecond: (1000 * accepted) / (toMs - fromMs),
    throttled: 1 - accepted / counted.length,
  };
}

describe.each([1, 2, 8])("%i workers", (workers) => {
  test.each([100, 300, 1_000])(
    "use a rate of %i a second, and no second has 1.15 times it",
    async (rate) => {
      const server: ScriptedServer = () => ({ afterMs: 20, throttled: false });
      const found = await simulate({ workers, rate, seconds: 20, server });
      expect(worstSecond(found.arrivals.map(({ at }) => at))).toBeLessThanOrEqual(1.1 * rate);
      expect(later(found, 1_000, 20_000).perSecond).toBeGreaterThan(0.93 * rate);
    },
  );

  test.each([
    [100, 1_000],
    [300, 1_000],
    [1_000, 1_000],
    [100, 2_000],
    [100, undefined],
    [300, undefined],
    [1_000, undefined],
  ])("find a limit of %i a second, with Retry-After of %s ms", async (limit, retryAfterMs) => {
    const server = tokenBucket(() => limit, Math.max(15, limit / 10));
    const options = { workers, rate: 2 * limit, seconds: 60, server };
    const found = await simulate({ ...options, ...(retryAfterMs && { retryAfterMs }) });
    const { perSecond, throttled } = later(found, 10_000, 60_000);
    expect(perSecond).toBeGreaterThan(0.84 * limit);
    expect(throttled).toBeLessThan(0.02);
  });
});

const unlimited: ScriptedServer = () => ({ afterMs: 20, throttled: false });

test("a rate that a later worker sets is that of all, and they hear of it", async () => {
  const options = { workers: 3, rate: 100, seconds: 10, server: unlimited, laterRate: 300 };
  const found = await simulate(options);
  expect(later(found, 2_000, 10_000).perSecond).toBeGreaterThan(0.93 * 300);
  expect(found.notices.toSorted()).toEqual(["0 300", "1 300"]);
});

test.each([100, 300, 1_000])("a rate of %i a second holds when Redis is emptied", async (rate) => {
  const options = { workers: 3, rate, seconds: 10, server: unlimited, emptiedAt: 5_030 };
  const { arrivals } = await simulate(options);
  expect(worstSecond(arrivals.map(({ at }) => at))).toBeLessThanOrEqual(1.15 * rate);
});

test.each([
  ["is killed", { killedAt: 30_000 }],
  ["forgets what they learned", { emptiedAt: 30_000 }],
])("workers follow a limit that halves when the one that judges or Redis %s", async (_, what) => {
  const server = tokenBucket((now) => (now < 30_000 ? 200 : 100));
  const found = await simulate({ workers: 3, rate: 400, seconds: 80, server, ...what });
  const { perSecond, throttled } = later(found, 45_000, 80_000);
  expect(perSecond).toBeGreaterThan(85);
  expect(throttled).toBeLessThan(0.03);
});

test("an hour without requests proves nothing", async () => {
  const server = tokenBucket(() => 100);
  const options = { workers: 2, rate: 400, seconds: 3_680, server };
  const found = await simulate({ ...options, idle: [30_000, 3_630_000] });
  const { perSecond, throttled } = later(found, 3_632_000, 3_680_000);
  expect(perSecond).toBeGreaterThan(85);
  expect(throttled).toBeLessThan(0.03);
});
