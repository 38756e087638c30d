import { expect, test } from "vitest";
import { systemClock, type Clock } from "../../../src/core/clock.js";
import { enrichHere } from "../../helpers/enrich-here.js";
import { HurriedClock } from "../../helpers/hurried-clock.js";
import { reply, startScriptedServer } from "../../helpers/scripted-server.js";
import { column } from "../../helpers/workspace.js";
import { replyFor } from "../api/answers.js";

/** Queries so many addresses. */
function queried(count: number, intelUrl: string, clock: Clock, concurrency = 1) {
  const items = Array.from({ length: count }, (_, n) => `192.0.2.${n}`);
  const settings = { lookups: "query", rate: "1000000/s", concurrency };
  return enrichHere({ input: ["in.csv", column("ip", items)], intelUrl, settings, clock });
}

test.each([
  [{ ratelimit: '"default";r=0;t=30', "ratelimit-policy": '"default";q=100;w=60' }],
  [{ "ratelimit-remaining": "0", "ratelimit-reset": "30" }],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": "30" }],
  [{ "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(Date.now() / 1000 + 600) }],
])("sends nothing after an answer that reports an empty quota: %j", async (headers) => {
  const clock = new HurriedClock();
  const sleptBefore: boolean[] = [];
  const server = await startScriptedServer((request, at) => {
    sleptBefore.push(clock.asked.some((ms) => ms > 28_000));
    return replyFor(request, at === 1 ? headers : {});
  });
  const { manifest } = await queried(4, server.url, clock);
  expect(manifest.statuses.complete).toBe(4);
  expect(sleptBefore).toEqual([false, false, true, true]);
});

test("obeys the rate that the service reports", async () => {
  const clock = new HurriedClock();
  const headers = { "ratelimit-policy": '"burst";q=2;w=1, "day";q=1000000;w=86400' };
  const sentAt: number[] = [];
  const server = await startScriptedServer((request) => {
    sentAt.push(clock.monotonic());
    return replyFor(request, headers);
  });
  const { manifest } = await queried(20, server.url, clock);
  expect(manifest.statuses.complete).toBe(20);
  // The second may leave before the first answer is judged; the others are half a second apart.
  expect(sentAt.at(-1)! - sentAt[1]!).toBeGreaterThanOrEqual(18 * 500 - 100);
  expect(Math.max(...clock.asked)).toBeLessThanOrEqual(500);
});

/** System time, except that sleeps of many seconds end on command. */
class GatedClock implements Clock {
  /** Sleeps that end on command. */
  readonly held: (() => void)[] = [];
  onHeld: () => void = () => undefined;
  #skipped = 0;

  now(): number {
    return systemClock.now() + this.#skipped;
  }

  monotonic(): number {
    return systemClock.monotonic() + this.#skipped;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms < 5_000) return systemClock.sleep(ms, signal);
    return new Promise((resolve) => {
      this.held.push(resolve);
      this.onHeld();
    });
  }

  release(): void {
    this.#skipped += 60_000;
    for (const end of this.held.splice(0)) end();
  }
}

test("one throttle answer pauses all workers", async () => {
  const clock = new GatedClock();
  const open: (() => void)[] = [];
  let released = false;
  let sentInPause = 0;
  // The first eight are open together; one of them is throttled, then the others are answered.
  const server = await startScriptedServer((asked, at) => {
    if (at >= 8) {
      if (!released) sentInPause++;
      return replyFor(asked);
    }
    return (socket, request) => {
      const throttled = at === 0;
      const step = throttled ? reply(429, "", { "retry-after": "30" }) : replyFor(asked);
      open.push(() => step(socket, request));
      if (open.length === 8) open.shift()?.();
    };
  });
  const run = queried(60, server.url, clock, 8);
  // Two sleeps: the lookup until its next attempt, and the pace.
  await new Promise<void>((resolve) => {
    clock.onHeld = () => clock.held.length === 2 && resolve();
  });
  for (const answerNow of open) answerNow();
  // If any worker were not paused, its next request would have arrived by now.
  await systemClock.sleep(50);
  released = true;
  clock.onHeld = () => clock.release();
  clock.release();
  const { manifest } = await run;
  expect(sentInPause).toBe(0);
  expect(manifest.statuses.complete).toBe(60);
  expect(manifest.requests["query"]).toEqual({ total: 61, outcomes: { "200": 60, "429": 1 } });
});
