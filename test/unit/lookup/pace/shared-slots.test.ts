import { beforeEach, describe, expect, test } from "vitest";
import { Pace } from "../../../../src/lookup/pace/pace.js";
import { clockDifference, SharedSlots } from "../../../../src/lookup/pace/shared-slots.js";
import { PaceServer } from "../../../../src/store/redis/pace-server.js";
import type { Script, ScriptServer, ScriptValue } from "../../../../src/store/redis/script.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { unaborted } from "../findings.js";

/** Hands out every slot at once, and keeps what was reported last, as the script does. */
class Reports implements ScriptServer {
  ticket = 0;
  holdMs = 0;
  learned = "";
  idle = 0;
  sent = 0;
  /** Calls that told something, refused ones too. */
  told = 0;
  /** Names of the windows of the last call. */
  windows: readonly ScriptValue[] = [];
  /** Rejects this many calls. */
  away = 0;

  async run(_: Script, __: readonly string[], args: readonly ScriptValue[]): Promise<unknown> {
    const [, , , want, , credit, ticket, , hold, idle, learned, ...windows] = args;
    if (learned !== "" || Number(hold) > 0) this.told++;
    if (this.away > 0) {
      this.away--;
      throw new Error("no connection");
    }
    this.windows = windows;
    this.holdMs = Math.max(this.holdMs, Number(hold));
    const isNew = learned !== "" && Number(ticket) > this.ticket;
    const isKnown = isNew || (learned === "" && ticket === this.ticket);
    if (isNew) {
      [this.ticket, this.learned] = [Number(ticket), String(learned)];
      this.idle = Math.max(this.idle, Number(idle));
    }
    this.sent += Number(want) - Number(credit);
    const at = Math.max(clock.monotonic(), this.holdMs);
    const times = [clock.monotonic(), Number(want), at, 0];
    return [
      isKnown ? "" : this.learned,
      ...times,
      this.ticket,
      0,
      this.holdMs,
      this.idle,
      this.sent,
    ];
  }
}

let reports: Reports;
let clock: ManualClock;
beforeEach(() => {
  reports = new Reports();
  clock = new ManualClock();
});

interface TestPace {
  readonly pace: Pace;
  readonly slots: SharedSlots;
}

function paceOf(id: string): TestPace {
  const caller = { id, service: "https://a.test", scope: "all", priority: "normal" } as const;
  const server = new PaceServer(reports, caller);
  const slots = new SharedSlots({ server, rates: [], clock, random: () => 0 });
  return { pace: new Pace({ rates: [], clock, slots }), slots };
}

const { signal } = unaborted();

/** Sends requests that are accepted; resolves to the ticket of the last one. */
async function accepted({ pace }: TestPace, count: number): Promise<number> {
  let ticket = 0;
  for (let n = 0; n < count; n++) {
    ticket = await clock.run(pace.take(signal));
    pace.succeeded(ticket);
  }
  return ticket;
}

const names = ({ slots }: TestPace): readonly string[] =>
  slots.limits.windows().map(({ name }) => name);

describe("shared slots", () => {
  test("a pause is reported at once, accepted answers are not", async () => {
    const one = paceOf("a");
    await accepted(one, 20);
    expect(reports.told).toBe(0);
    one.pace.throttled(3_000);
    await clock.advance(0);
    expect(reports).toMatchObject({ told: 1, ticket: 1, holdMs: clock.monotonic() + 3_000 });
  });

  test("nothing starts before every process holds", async () => {
    const [first, second] = [paceOf("a"), paceOf("b")];
    await accepted(first, 1);
    await accepted(second, 1);
    first.pace.throttled(3_000);
    await clock.advance(0);
    for (const { pace } of [first, second]) await clock.run(pace.take(signal));
    expect(clock.monotonic()).toBe(3_000);
  });

  test("the throttle answers of several workers count as one pause", async () => {
    const workers = [paceOf("a"), paceOf("b")];
    for (const { pace } of workers) pace.throttled(1_000, 0);
    await clock.advance(0);
    expect(reports).toMatchObject({ told: 2, ticket: 1 });
  });

  test("what another worker was faster to report is taken over", async () => {
    const [first, second] = [paceOf("a"), paceOf("b")];
    first.pace.throttled(1_000, 0);
    await clock.advance(0);
    for (let n = 0; n < 50; n++) second.pace.succeeded(0);
    second.pace.throttled(1_000, 0);
    await clock.advance(0);
    expect(names(second)).toEqual(["found"]);
    expect(second.slots.limits.windows()).toEqual(first.slots.limits.windows());
  });

  test("a limit is found from the answers of all, and every worker obeys it", async () => {
    const workers = [paceOf("a"), paceOf("b")];
    for (let n = 0; n < 60; n++) {
      const one = workers[n % 2]!;
      one.pace.throttled(null, await accepted(one, 5));
      await clock.advance(100);
    }
    for (const one of workers) await accepted(one, 1);
    const [first, second] = workers.map(({ slots }) => slots.limits.windows());
    expect(names(workers[0]!)).toEqual(["found"]);
    expect(first).toEqual(second);
    expect(reports.windows).toContain("found");
  });

  test("a rate that the service declares is told to the server", async () => {
    const one = paceOf("a");
    for (let n = 0; n < 3; n++) one.pace.advise("query", { count: 10, perMs: 1000 });
    await accepted(one, 1);
    expect(reports.windows.filter((value) => typeof value === "string")).toEqual(["advised query"]);
  });

  test("what is known is restored when the server has lost it", async () => {
    const one = paceOf("a");
    reports.idle = 600_000;
    one.pace.throttled(5_000);
    await clock.advance(0);
    Object.assign(reports, { ticket: 0, holdMs: 0, learned: "", idle: 0 });
    one.slots.lost();
    await accepted(one, 1);
    expect(reports).toMatchObject({ ticket: 1, holdMs: 5_000, idle: 600_000 });
    expect(JSON.parse(reports.learned).waitMs).toBe(5_000);
    expect(clock.monotonic()).toBe(5_000);
  });

  test("reports are repeated while the server is away, until the pace is over", async () => {
    const one = paceOf("a");
    reports.away = 3;
    one.pace.throttled(2_000);
    await clock.advance(200);
    expect(reports.ticket).toBe(0);
    await clock.advance(200);
    expect(reports).toMatchObject({ ticket: 1, holdMs: 2_000 });
    Object.assign(reports, { away: 9, told: 0 });
    one.pace.throttled(9_000);
    await one.pace.giveBack();
    await clock.advance(1_000);
    expect(reports.told).toBe(1);
  });
});

describe("clockDifference", () => {
  const unknown = { ms: 0, errorMs: Number.POSITIVE_INFINITY, notedMs: 0 };
  /** After calls that were sent, received, and answered at a time of this process, by a clock that is ahead. */
  const after = (...calls: readonly (readonly [number, number, number, number])[]): number =>
    calls.reduce(
      (known, [sent, received, at, ahead]) => clockDifference(known, sent, received, at + ahead),
      unknown,
    ).ms;

  test.each([
    ["is that of the middle of a call", [[100, 110, 105, 4_895]], -4_895, 0],
    // The answer to a slow call was on its way for almost all of the time.
    ["is inexact after a slow call", [[0, 200, 1, 9_000]], -8_901, 0],
    [
      "is exact after a quick call",
      [
        [0, 200, 1, 9_000],
        [300, 302, 301, 9_000],
      ],
      -9_000,
      1,
    ],
    [
      "stays exact after a slow call that follows",
      [
        [0, 200, 1, 9_000],
        [300, 302, 301, 9_000],
        [400, 600, 401, 9_000],
      ],
      -9_000,
      1,
    ],
    [
      "follows a clock that is set forward",
      [
        [0, 2, 1, 50],
        [1_000, 1_002, 1_001, 3_600_050],
      ],
      -3_600_050,
      0,
    ],
    [
      "follows a clock that is set back",
      [
        [0, 2, 1, 50],
        [1_000, 1_002, 1_001, -3_599_950],
      ],
      3_599_950,
      0,
    ],
  ] as const)("%s", (_, calls, difference, within) => {
    expect(Math.abs(after(...calls) - difference)).toBeLessThanOrEqual(within);
  });

  test("follows a clock that drifts", () => {
    let known = unknown;
    for (let ms = 0; ms <= 600_000; ms += 1_000) {
      known = clockDifference(known, ms, ms + 2, (ms + 1) * 1.0001);
    }
    expect(Math.abs(known.ms + 60)).toBeLessThan(2);
  });
});
