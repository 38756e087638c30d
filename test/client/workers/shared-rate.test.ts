import type { RateLimiterOptions } from "bullmq";
import { describe, expect, test } from "vitest";
import type { OpenQueue } from "../../../src/client/workers/lookup-queue.js";
import { SharedRate } from "../../../src/client/workers/lookup-worker.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { tokenBucket, type ScriptedServer, worstSecond } from "../../helpers/pace-simulation.js";
import { seeded } from "../../helpers/seeded.js";

/** A reply takes this long, in milliseconds. */
const replyMs = 1;

/** What Redis and BullMQ keep for workers: keys, and the limit of jobs. */
class SimulatedRedis {
  readonly #timers: ManualClock;
  readonly #keys = new Map<string, { readonly value: string; readonly until: number }>();
  window: RateLimiterOptions | null = null;
  /** Jobs taken in the window, and its end. */
  #taken = 0;
  #until = 0;

  constructor(timers: ManualClock) {
    this.#timers = timers;
  }

  /** A connection to it. */
  open(): OpenQueue {
    const reply = async <T>(read: () => T): Promise<T> => {
      await this.#timers.sleep(replyMs);
      return read();
    };
    const get = (name: string): string | null => {
      const { value, until } = this.#keys.get(name) ?? { value: null, until: Infinity };
      return until > this.#timers.now() ? value : null;
    };
    const redis = {
      get: (name: string) => reply(() => get(name)),
      set: (name: string, value: string, _ = "", ms = Infinity, only = "") =>
        reply(() => {
          if (only === "NX" && get(name) !== null) return null;
          this.#keys.set(name, { value, until: this.#timers.now() + ms });
          return "OK";
        }),
    };
    const queue = {
      toKey: (name: string) => name,
      setGlobalRateLimit: (max: number, duration: number) =>
        reply(() => void (this.window = { max, duration })),
      getGlobalRateLimit: () => reply(() => this.window),
      getRateLimitTtl: () =>
        reply(() => (this.#taken < (this.window?.max ?? 0) ? 0 : this.#until - this.#timers.now())),
      rateLimit: (ms: number) =>
        reply(() => {
          this.#taken = Number.POSITIVE_INFINITY;
          this.#until = this.#timers.now() + ms;
        }),
    };
    return { queue, connection: { redis } } as unknown as OpenQueue;
  }

  empty(): void {
    this.#keys.clear();
    this.window = null;
    this.#until = 0;
  }

  /** Takes a job. @returns milliseconds until one may be taken; 0 if one was */
  take(own: RateLimiterOptions): number {
    const now = this.#timers.now();
    const { max } = this.window ?? own;
    if (now >= this.#until) this.#taken = 0;
    if (this.#taken >= max) return Math.ceil(this.#until - now);
    if (this.#taken++ === 0) this.#until = now + own.duration;
    return 0;
  }
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

async function simulate(options: SimulationOptions) {
  const { workers, rate, seconds, server, retryAfterMs = null } = options;
  const { emptiedAt = Infinity, killedAt = Infinity, laterRate, idle } = options;
  const timers = new ManualClock({ startMs: 0, steps: 24 });
  const redis = new SimulatedRedis(timers);
  const random = seeded(7);
  const arrivals: { at: number; accepted: boolean }[] = [];
  const notices: string[] = [];
  const killed = new AbortController();
  const work = async (nth: number): Promise<void> => {
    const isLater = laterRate !== undefined && nth === workers - 1;
    const { signal } = nth === 0 ? killed : new AbortController();
    const shared = new SharedRate(redis.open(), {
      rate: { count: isLater ? laterRate : rate, perMs: 1000 },
      onNotice: (notice) => notices.push(`${nth}: ${notice}`),
    });
    await timers.sleep(37 * nth + (isLater ? 1_000 : 0));
    await shared.begin();
    const keep = async (): Promise<void> => {
      for (;;) {
        await timers.sleep(1_000, signal);
        await shared.refresh();
      }
    };
    keep().catch(() => undefined);
    const ask = async (): Promise<void> => {
      const sentAt = shared.now;
      const { afterMs, throttled } = server(timers.now(), 0);
      arrivals.push({ at: timers.now(), accepted: !throttled });
      await timers.sleep(afterMs);
      if (!throttled) return void (shared.isAccepted = true);
      await shared.pause(retryAfterMs);
      await shared.lower(sentAt);
    };
    while (!signal.aborted) {
      if (idle && timers.now() >= idle[0] && timers.now() < idle[1]) {
        await timers.sleep(idle[1] - timers.now());
      }
      const wait = redis.take(shared.window);
      if (wait === 0) void ask();
      await timers.sleep(wait + random());
    }
  };
  for (let nth = 0; nth < workers; nth++) void work(nth);
  void timers.sleep(emptiedAt).then(() => redis.empty());
  void timers.sleep(killedAt).then(() => killed.abort());
  await timers.advance(seconds * 1000);
  return { arrivals, notices };
}

/** Accepted requests and share of throttled ones after the first seconds. */
function later({ arrivals }: Awaited<ReturnType<typeof simulate>>, fromMs: number, toMs: number) {
  const counted = arrivals.filter(({ at }) => at >= fromMs && at < toMs);
  const accepted = counted.filter((one) => one.accepted).length;
  return {
    perSecond: (1000 * accepted) / (toMs - fromMs),
    throttled: 1 - accepted / counted.length,
  };
}

const unlimited: ScriptedServer = () => ({ afterMs: 20, throttled: false });

describe.each([1, 2, 8])("%i workers", (workers) => {
  test.each([100, 300, 1_000])(
    "use a rate of %i a second, and no second has 1.15 times it",
    async (rate) => {
      const found = await simulate({ workers, rate, seconds: 20, server: unlimited });
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
    expect(perSecond).toBeGreaterThan((retryAfterMs === undefined ? 0.92 : 0.86) * limit);
    expect(throttled).toBeLessThan(0.005);
  });
});

test("a rate that a later worker sets is that of all, and they hear of it", async () => {
  const options = { workers: 3, rate: 100, seconds: 10, server: unlimited, laterRate: 300 };
  const found = await simulate(options);
  expect(later(found, 2_000, 10_000).perSecond).toBeGreaterThan(0.93 * 300);
  expect(found.notices.toSorted()).toEqual([
    "0: another worker has set the rate of all to 300/s",
    "1: another worker has set the rate of all to 300/s",
    "2: the rate of all workers of this service is 300/s now, was 100/s",
  ]);
});

test.each([100, 300, 1_000])("a rate of %i a second holds when Redis is emptied", async (rate) => {
  const options = { workers: 3, rate, seconds: 10, server: unlimited, emptiedAt: 5_030 };
  const { arrivals } = await simulate(options);
  expect(worstSecond(arrivals.map(({ at }) => at))).toBeLessThanOrEqual(1.15 * rate);
});

test.each([
  ["is killed", { killedAt: 30_000 }],
  ["loses what they have found", { emptiedAt: 30_000 }],
])("workers follow a limit that halves when one of them or Redis %s", async (_, what) => {
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

/** What a worker of its own asks for, without the time that Redis takes. */
async function alone(run: (shared: SharedRate, open: OpenQueue) => Promise<void>): Promise<void> {
  const timers = new ManualClock({ startMs: 0, steps: 24 });
  const open = new SimulatedRedis(timers).open();
  const rate = { count: 100, perMs: 1000 };
  const done = run(new SharedRate(open, { rate, onNotice: () => undefined }), open);
  await timers.run(done);
}

test("all requests of one rate lower it once, however late they are answered", () =>
  alone(async (shared) => {
    await shared.begin();
    const sentAt = shared.now;
    for (let n = 0; n < 5; n++) await shared.lower(sentAt);
    expect(shared.now).toBeCloseTo(0.08, 3);
    await shared.lower(shared.now);
    expect(shared.now).toBeCloseTo(0.064, 3);
    await shared.lower(sentAt);
    expect(shared.now).toBeCloseTo(0.064, 3);
  }));

test("a restarted worker leaves the rate low; another rate sets it", () =>
  alone(async (shared, open) => {
    await shared.begin();
    await shared.lower(shared.now);
    const start = async (count: number): Promise<number> => {
      const other = { rate: { count, perMs: 1000 }, onNotice: () => undefined };
      const started = new SharedRate(open, other);
      await started.begin();
      return started.now;
    };
    expect(await start(100)).toBeCloseTo(0.08, 3);
    expect(await start(60)).toBeCloseTo(0.06, 3);
  }));

test("a longer pause replaces a shorter one, and not the other way round", () =>
  alone(async (shared, { queue }) => {
    await shared.begin();
    for (const ms of [2_000, 500, null]) await shared.pause(ms);
    expect(await queue.getRateLimitTtl()).toBeGreaterThan(1_900);
    await shared.pause(9_000);
    expect(await queue.getRateLimitTtl()).toBeGreaterThan(8_900);
  }));
