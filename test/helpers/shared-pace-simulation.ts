import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../src/core/clock.js";
import type { Rate } from "../../src/core/options.js";
import { Pace } from "../../src/lookup/pace/pace.js";
import { SharedSlots } from "../../src/lookup/pace/shared-slots.js";
import type { Priority } from "../../src/store/redis/redis-address.js";
import { PaceServer } from "../../src/store/redis/pace-server.js";
import type { Script, ScriptServer, ScriptValue } from "../../src/store/redis/script.js";
import { SimulatedTimers } from "./simulated-timers.js";

/** Time that passes only while no real call is open. */
class SimulatedTime {
  readonly #timers = new SimulatedTimers();
  #open = 0;

  get now(): number {
    return this.#timers.now;
  }

  /** A worker's clock: its wall clock and its monotonic one differ from everybody else's. */
  clock(aheadMs: number): Clock {
    return {
      now: () => 1.7e12 + this.now + aheadMs,
      monotonic: () => this.now + 1e6 + aheadMs / 7,
      // Timers have a resolution of one millisecond.
      sleep: (ms, signal) => this.sleep(Math.max(1, Math.ceil(ms)), signal),
    };
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#timers.sleep(ms, signal);
  }

  /** Makes a real call that takes no simulated time. */
  async real<T>(call: () => Promise<T>): Promise<T> {
    this.#open++;
    try {
      return await call();
    } finally {
      this.#open--;
    }
  }

  run(untilMs: number): Promise<void> {
    return this.#timers.run(untilMs, async () => {
      do await turn();
      while (this.#open > 0);
    });
  }
}

/** Scripts on a real server, at simulated times: replies take `rttMs`. */
class SimulatedServer implements ScriptServer {
  readonly #real: ScriptServer;
  readonly #time: SimulatedTime;
  readonly #rttMs: number;
  readonly #serverMs: () => number;

  constructor(real: ScriptServer, time: SimulatedTime, rttMs: number, serverMs: () => number) {
    this.#real = real;
    this.#time = time;
    this.#rttMs = rttMs;
    this.#serverMs = serverMs;
  }

  async run(what: Script, keys: readonly string[], args: readonly ScriptValue[]): Promise<unknown> {
    await this.#time.sleep(this.#rttMs / 2);
    const timed = [this.#serverMs(), ...args.slice(1)];
    const reply = await this.#time.real(() => this.#real.run(what, keys, timed));
    await this.#time.sleep(this.#rttMs / 2);
    return reply;
  }
}

interface SimulatedWorker {
  /** How far its clocks are ahead. */
  readonly aheadMs?: number;
  readonly priority?: Priority;
  /** Most open requests. */
  readonly concurrency?: number;
  readonly startMs?: number;
}

interface SharedPaceSimulation {
  readonly redis: ScriptServer;
  readonly service: string;
  readonly rates: readonly Rate[];
  readonly workers: readonly SimulatedWorker[];
  readonly ms: number;
  readonly rttMs?: number;
  /** Time of a request, and whether it is throttled. */
  readonly answer?: (nowMs: number) => {
    readonly afterMs: number;
    readonly throttled: boolean;
    /** `Retry-After` in milliseconds; null or absent for none. */
    readonly retryAfterMs?: number | null;
  };
  /** Jumps of the server's clock. */
  readonly serverAheadMs?: (nowMs: number) => number;
  readonly at?: readonly { readonly ms: number; readonly act: () => Promise<unknown> }[];
}

/** A request: when it started, by which worker. */
interface SentRequest {
  readonly ms: number;
  readonly worker: number;
  readonly throttled: boolean;
}

/** Sends continuously from several workers under one pace. Resolves to every request, in order. */
export async function simulateSharedPace(
  simulation: SharedPaceSimulation,
): Promise<readonly SentRequest[]> {
  const { redis, service, rates, workers, ms, rttMs = 0.4 } = simulation;
  const answer: NonNullable<SharedPaceSimulation["answer"]> =
    simulation.answer ?? (() => ({ afterMs: 5, throttled: false }));
  const time = new SimulatedTime();
  const sent: SentRequest[] = [];
  const ahead = simulation.serverAheadMs ?? (() => 0);
  const serverMs = (): number => 1.7e12 + time.now + ahead(time.now);
  const server = new SimulatedServer(redis, time, rttMs, serverMs);
  const stops: AbortController[] = [];
  workers.forEach((worker, number) => {
    const { aheadMs = 0, priority = "normal", concurrency = 32, startMs = 0 } = worker;
    const stop = new AbortController();
    stops.push(stop);
    const caller = { id: `w${number}`, service, scope: "all", priority };
    const clock = time.clock(aheadMs);
    const own = { server: new PaceServer(server, caller), rates, clock, random: () => 0.5 };
    const pace = new Pace({ rates, clock, slots: new SharedSlots(own) });
    const one = async (): Promise<void> => {
      await time.sleep(startMs);
      while (!stop.signal.aborted) {
        const ticket = await pace.take(stop.signal);
        const { afterMs, throttled, retryAfterMs = null } = answer(time.now);
        sent.push({ ms: time.now, worker: number, throttled });
        await time.sleep(afterMs);
        if (throttled) pace.throttled(retryAfterMs, ticket);
        else pace.succeeded(ticket);
      }
    };
    for (let i = 0; i < concurrency; i++) one().catch(() => undefined);
  });
  for (const { ms: at, act } of simulation.at ?? []) {
    void time.sleep(at).then(() => time.real(act));
  }
  await time.run(ms);
  for (const stop of stops) stop.abort();
  return sent;
}

/** The most requests in any window of one second. */
export function mostInASecond(sent: readonly SentRequest[]): number {
  let first = 0;
  let most = 0;
  sent.forEach(({ ms }, at) => {
    while (ms - (sent[first]?.ms ?? 0) >= 1000) first++;
    most = Math.max(most, at - first + 1);
  });
  return most;
}
