import { expect, test } from "vitest";
import type { Attempt } from "../../../../src/core/attempt.js";
import type { Rate } from "../../../../src/core/options.js";
import { composeLookup } from "../../../../src/lookup/compose.js";
import { ConcurrencyNeed } from "../../../../src/lookup/pace/concurrency-need.js";
import { MemoryStore } from "../../../../src/store/memory-store.js";
import { Pace } from "../../../../src/lookup/pace/pace.js";
import type { Lookup } from "../../../../src/lookup/types.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import {
  type ScriptedServer,
  type Second,
  simulatePace,
  slowingDown,
} from "../../../helpers/pace-simulation.js";
import { complete, unaborted } from "../attempts.js";

const perSecond = (count: number): readonly Rate[] => [{ count, perMs: 1000 }];

function always(afterMs: number): ScriptedServer {
  return () => ({ afterMs, throttled: false });
}

function acceptedASecond(seconds: readonly Second[]): number {
  return seconds.reduce((sum, { accepted }) => sum + accepted, 0) / seconds.length;
}

function mostOpen(seconds: readonly Second[]): number {
  return Math.max(...seconds.map(({ open }) => open));
}

test("a given rate keeps no more open than rate times latency", async () => {
  const seconds = await simulatePace(always(50), 20, 256, perSecond(200));
  expect(acceptedASecond(seconds.slice(1))).toBeCloseTo(200, -1);
  // At 200 a second of 50 ms each, 10; and what late timers let leave together.
  expect(mostOpen(seconds)).toBeLessThanOrEqual(14);
});

test("where nothing else limits, all that is allowed is open and of use", async () => {
  const seconds = await simulatePace(always(50), 10, 256);
  expect(acceptedASecond(seconds.slice(1))).toBeGreaterThanOrEqual((0.95 * 256) / 0.05);
});

test("what waits for a connection is not taken for a queue of the service", async () => {
  const seconds = await simulatePace(always(50), 12, 32, [], 96);
  for (const { accepted } of seconds.slice(1)) expect(accepted).toBe(640);
});

test("answers that differ much in their latency cost nothing", async () => {
  let count = 0;
  const uneven = () => {
    count++;
    return { afterMs: count % 10 === 0 ? 500 : 20 + ((count * 7919) % 40), throttled: false };
  };
  const seconds = await simulatePace(uneven, 20, 64);
  expect(acceptedASecond(seconds.slice(2))).toBeGreaterThanOrEqual((0.95 * 64) / 0.0855);
});

test("a server that slows down under load is used to its full with few open", async () => {
  const seconds = (await simulatePace(slowingDown(150), 40, 256)).slice(10);
  expect(acceptedASecond(seconds)).toBeGreaterThanOrEqual(0.98 * 150);
  // At 150 a second of 40 ms each, 6 are enough.
  expect(mostOpen(seconds)).toBeLessThanOrEqual(30);
});

test("what a server can do is followed when it changes", async () => {
  const [slow, fast] = [slowingDown(100), slowingDown(400)];
  const seconds = await simulatePace(
    (now) => (now < 15_000 ? slow(now, 0) : fast(now, 0)),
    40,
    256,
  );
  expect(acceptedASecond(seconds.slice(25))).toBeGreaterThanOrEqual(0.98 * 400);
  expect(mostOpen(seconds.slice(25))).toBeLessThanOrEqual(64);
});

test("a service that takes longer for each answer, load or no load, gets all that is allowed", async () => {
  const seconds = await simulatePace(
    (now) => ({ afterMs: now < 10_000 ? 50 : 200, throttled: false }),
    30,
    64,
  );
  expect(acceptedASecond(seconds.slice(15))).toBeGreaterThanOrEqual((0.9 * 64) / 0.2);
});

test.each([5, 20, 100])(
  "at %i a second an answer that begins to take ten seconds gets all that is allowed",
  async (rate) => {
    const slow = (now: number) => ({ afterMs: now < 30_000 ? 5 : 10_000, throttled: false });
    const seconds = await simulatePace(slow, 130, 32, perSecond(rate));
    // With 2 open for a probe it would be one answer in five seconds, for most of a minute.
    expect(acceptedASecond(seconds.slice(-40))).toBeGreaterThanOrEqual(0.9 * 3.2);
  },
);

test("below its ceiling a run keeps open what rate and latency need, whatever waits", async () => {
  const clock = new ManualClock();
  let open = 0;
  let most = 0;
  const answer = async (): Promise<Attempt> => {
    most = Math.max(most, ++open);
    await clock.sleep(100);
    open--;
    return complete();
  };
  const lookup: Lookup = composeLookup({
    client: { attempt: answer },
    lookups: ["query"],
    concurrency: 500,
    pace: new Pace({ rates: perSecond(100), clock }),
    retries: 0,
    partialRetries: 0,
    store: new MemoryStore(),
    clock,
  });
  for (let i = 0; i < 600; i++) {
    void lookup({ kind: "ip", value: `198.51.${i >> 8}.${i & 255}` }, unaborted());
  }
  await clock.advance(3000);
  expect(most).toBeLessThanOrEqual(12);
  expect(most).toBeGreaterThanOrEqual(9);
});

test("a ceiling below what it begins with is kept", () => {
  expect(new ConcurrencyNeed(1).most).toBe(1);
});

test("however long answers take, one is always allowed", () => {
  const need = new ConcurrencyNeed(1);
  for (let at = 0; at < 100; at++) {
    need.sent();
    need.answered(at * 10_000, at * 10_000 + at * 100);
    expect(need.most).toBe(1);
  }
});
