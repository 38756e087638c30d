import { beforeEach, describe, expect, test } from "vitest";
import { SharedLimiter } from "../../../../../src/lookup/pace/shared/shared-limiter.js";
import { takeScript } from "../../../../../src/store/redis/pace-scripts.js";
import { PaceServer } from "../../../../../src/store/redis/pace-server.js";
import type {
  Script,
  ScriptServer,
  ScriptValue,
} from "../../../../../src/store/redis/redis-link.js";
import { ManualClock } from "../../../../helpers/manual-clock.js";

/** Keeps what was reported last, as the scripts do, and hands out slots that are far away. */
class Reports implements ScriptServer {
  ticket = 0;
  holdMs = 0;
  learned = "";
  sent = 0;
  /** Reports, refused ones too. */
  calls = 0;
  /** Rejects this many reports. */
  away = 0;
  /** Names and intervals of the windows in the last request for slots. */
  windows: ScriptValue[] = [];

  async run(
    what: Script,
    _keys: readonly string[],
    args: readonly ScriptValue[],
  ): Promise<unknown> {
    return what === takeScript ? this.#take(args) : this.#report(args);
  }

  #take(args: readonly ScriptValue[]): unknown {
    this.windows = args.slice(8);
    const learned = args[6] === this.ticket ? "" : this.learned;
    return [0, 0, 0, 0, this.ticket, 0, this.holdMs * 1000, 0, this.sent, learned];
  }

  #report([, ticket, hold, learned]: readonly ScriptValue[]): unknown {
    this.calls++;
    if (this.away > 0) {
      this.away--;
      throw new Error("no connection");
    }
    this.holdMs = Math.max(this.holdMs, Number(hold) / 1000);
    if (Number(ticket) < this.ticket) return 0;
    this.ticket = Number(ticket) + 1;
    this.learned = String(learned);
    return 1;
  }
}

let reports: Reports;
let clock: ManualClock;
beforeEach(() => {
  reports = new Reports();
  clock = new ManualClock();
});

function limiterOf(id: string): SharedLimiter {
  const caller = { id, service: "https://a.test", scope: "all", priority: "normal" } as const;
  const server = new PaceServer(reports, caller);
  return new SharedLimiter({ server, rates: [], clock, random: () => 0 }, () => undefined);
}

/** Asks for slots, and takes over what the reply tells. Returns the windows of the request. */
async function ask(limiter: SharedLimiter, sent = 0): Promise<readonly ScriptValue[]> {
  reports.sent = sent;
  reports.windows = [];
  limiter.waitAt(clock.monotonic(), 1);
  await clock.advance(0);
  return reports.windows;
}

async function throttle(
  limiter: SharedLimiter,
  afterMs: number | null,
  ticket: number,
): Promise<void> {
  limiter.throttled(clock.monotonic(), afterMs, ticket);
  await clock.advance(0);
}

describe("a shared limiter", () => {
  test("reports a pause at once, and nothing of accepted answers", async () => {
    const limiter = limiterOf("a");
    for (let n = 0; n < 20; n++) limiter.succeeded(0, 0);
    expect(reports.calls).toBe(0);
    await throttle(limiter, 3_000, 0);
    expect(reports).toMatchObject({ calls: 1, ticket: 1, holdMs: 3_000 });
  });

  test("counts one pause for the throttle answers of several workers", async () => {
    const [first, second] = [limiterOf("a"), limiterOf("b")];
    await Promise.all([throttle(first, null, 0), throttle(second, null, 0)]);
    expect(reports.ticket).toBe(1);
  });

  test("takes over what another worker was faster to report", async () => {
    const [first, second] = [limiterOf("a"), limiterOf("b")];
    await throttle(first, 1_000, 0);
    for (let n = 0; n < 50; n++) second.succeeded(0, 0);
    await throttle(second, 1_000, 0);
    await ask(first);
    await ask(second);
    await clock.advance(10);
    const windows = await ask(second);
    expect(windows[0]).toBe("found");
    expect(windows).toEqual(await ask(first));
  });

  test("finds a limit from the answers of all, and every worker obeys it", async () => {
    const [first, second] = [limiterOf("a"), limiterOf("b")];
    for (let n = 0; n < 60; n++) {
      const limiter = n % 2 === 0 ? first : second;
      await ask(limiter, 5 * n);
      for (let i = 0; i < 5; i++) limiter.succeeded(clock.monotonic(), reports.ticket);
      await throttle(limiter, null, reports.ticket);
      await clock.advance(100);
    }
    await ask(first);
    await ask(second);
    await clock.advance(10);
    const windows = await ask(first);
    expect(windows[0]).toBe("found");
    expect(windows).toEqual(await ask(second));
  });

  test("keeps a rate that the service declares", async () => {
    const limiter = limiterOf("a");
    for (let n = 0; n < 3; n++) limiter.advise("query", { count: 10, perMs: 1000 });
    const windows = await ask(limiter);
    expect([windows[0], windows.length]).toEqual(["advised query", 4]);
  });

  test("restores what it knows when the server has lost it", async () => {
    const limiter = limiterOf("a");
    await throttle(limiter, 5_000, 0);
    Object.assign(reports, { ticket: 0, holdMs: 0, learned: "" });
    await ask(limiter);
    await clock.advance(0);
    expect(reports).toMatchObject({ ticket: 2, holdMs: 5_000 });
    expect(JSON.parse(reports.learned).waitMs).toBe(5_000);
  });

  test("starts nothing until the server knows of a pause", async () => {
    const limiter = limiterOf("a");
    reports.away = 1;
    await throttle(limiter, 2_000, 0);
    expect(await ask(limiter)).toEqual([]);
    await clock.advance(100);
    expect(await ask(limiter)).not.toEqual([]);
  });

  test("repeats its reports while the server is away", async () => {
    const limiter = limiterOf("a");
    reports.away = 3;
    await throttle(limiter, 2_000, 0);
    await clock.advance(200);
    expect(reports.ticket).toBe(0);
    await clock.advance(200);
    expect(reports).toMatchObject({ ticket: 1, holdMs: 2_000 });
  });

  test("repeats nothing once it is closed", async () => {
    const limiter = limiterOf("a");
    reports.away = 9;
    await throttle(limiter, 2_000, 0);
    await limiter.close();
    await clock.advance(1_000);
    expect(reports.calls).toBe(1);
  });
});
