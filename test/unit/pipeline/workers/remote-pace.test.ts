import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { Outcomes } from "../../../../src/pipeline/workers/messages.js";
import { RemotePace } from "../../../../src/pipeline/workers/remote-pace.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

const { signal } = new AbortController();
const rate = { count: 1_000, perMs: 1_000 };

let reports: Outcomes[];
let clock: ManualClock;
beforeEach(() => {
  reports = [];
  clock = new ManualClock();
});

function paceOf(mostAhead: number): RemotePace {
  const report = (each: Outcomes): void => void reports.push(each);
  return new RemotePace({ name: "run", mostAhead, clock, report });
}

const asked = (): readonly number[] => reports.map(({ take }) => take);

/** A second of so many requests. */
async function spend(pace: RemotePace, requests: number): Promise<void> {
  for (const [after, many] of [
    [0, requests - 1],
    [1_000, 1],
  ] as const) {
    await clock.advance(after);
    const taken = Array.from({ length: many }, () => pace.take(signal));
    await turn();
    pace.grant([[0, many]]);
    await Promise.all(taken);
  }
  reports = [];
}

/** Fills the stock, with one request answered. */
async function stocked(ahead: number): Promise<RemotePace> {
  const pace = paceOf(ahead);
  const first = pace.take(signal);
  await turn();
  pace.grant([[0, ahead + 1]]);
  await first;
  return pace;
}

describe("a pace that the parent keeps", () => {
  test("asks for the requests of a turn in one message", async () => {
    const pace = paceOf(0);
    const tickets = [pace.take(signal), pace.take(signal), pace.take(signal)];
    await turn();
    expect(asked()).toEqual([3]);
    pace.grant([
      [4, 2],
      [5, 1],
    ]);
    expect(await Promise.all(tickets)).toEqual([4, 4, 5]);
  });

  test("takes slots from its stock without a message, and fills it when half is gone", async () => {
    const pace = await stocked(10);
    expect(asked()).toEqual([11]);
    for (let n = 0; n < 5; n++) await pace.take(signal);
    await turn();
    expect(asked()).toEqual([11]);
    for (let n = 0; n < 3; n++) await pace.take(signal);
    await turn();
    expect(asked()).toEqual([11, 8]);
    for (let n = 0; n < 2; n++) await pace.take(signal);
    await turn();
    // They are on their way.
    expect(asked()).toEqual([11, 8]);
  });

  test("has a hundredth of a second in stock under a limit", async () => {
    const pace = paceOf(10);
    pace.hold(0);
    await spend(pace, 350);
    void pace.take(signal);
    await turn();
    expect(asked()).toEqual([4]);
  });

  test("drops slots that have become old", async () => {
    const pace = await stocked(10);
    await clock.advance(101);
    const next = pace.take(signal);
    await turn();
    expect(asked()).toEqual([11, 11]);
    pace.grant([[0, 11]]);
    expect(await next).toBe(0);
  });

  test.each([
    ["a throttle answer here", (pace: RemotePace) => pace.throttled(null, 0)],
    ["a pause that the service asks for", (pace: RemotePace) => pace.hold(1_000)],
    ["a rate that the service declares", (pace: RemotePace) => pace.advise("query", rate)],
    ["a pause because of another worker", (pace: RemotePace) => pace.grant([[1, 1]])],
  ])("gives up its stock after %s", async (_, pause) => {
    const pace = await stocked(10);
    pause(pace);
    for (let n = 0; n < 3; n++) void pace.take(signal);
    await turn();
    const wanted = asked().at(-1) ?? 0;
    expect(wanted).toBeLessThanOrEqual(3);
    expect(wanted).toBeGreaterThan(1);
    pace.grant([[1, wanted]]);
    void pace.take(signal);
    await turn();
    expect(asked().at(-1)).toBe(1);
  });

  test("has a stock again a second after a sign of a limit", async () => {
    const pace = await stocked(10);
    pace.advise("query", rate);
    pace.throttled(null, 0);
    await spend(pace, 1_000);
    // The service declares its rate with each answer.
    pace.advise("query", rate);
    void pace.take(signal);
    await turn();
    expect(asked()).toEqual([11]);
  });

  test("reports answers together, by ticket", async () => {
    const pace = paceOf(0);
    for (const ticket of [0, 0, 1, 0]) pace.succeeded(ticket);
    pace.throttled(500, 1);
    await turn();
    expect(reports).toMatchObject([
      {
        succeeded: [
          [0, 3],
          [1, 1],
        ],
        throttled: [{ afterMs: 500, ticket: 1 }],
      },
    ]);
  });

  test("refuses requests once the run ends, also with slots in stock", async () => {
    const pace = await stocked(10);
    pace.end(new Error("no more"));
    await expect(pace.take(signal)).rejects.toThrow("no more");
  });
});
