import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HeldLock } from "../../../../src/cluster/queue/held-lock.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const lockMs = 8_000;
const never = new AbortController().signal;

test("a lock that is renewed stays", () => {
  const held = new HeldLock(lockMs, never);
  for (let renewals = 0; renewals < 5; renewals++) {
    vi.advanceTimersByTime(lockMs / 2);
    held.renewed();
  }
  expect([held.signal.aborted, held.isLost]).toEqual([false, false]);
  held.close();
});

test("a lock is lost if nothing renews it in time, and a late renewal is too late", () => {
  const held = new HeldLock(lockMs, never);
  vi.advanceTimersByTime(lockMs);
  expect(held.isLost).toBe(false);
  vi.setSystemTime(Date.now() + lockMs);
  vi.advanceTimersByTime(lockMs / 4);
  held.renewed();
  expect(held.isLost).toBe(true);
  expect(held.signal.reason).toMatchObject({ code: "lock_lost" });
  held.close();
});

test("the first reason to end counts", () => {
  const outer = new AbortController();
  const held = new HeldLock(lockMs, outer.signal);
  held.stop();
  outer.abort(new Error("later"));
  held.lose();
  expect(held.signal.reason).toMatchObject({ code: "interrupted" });
  expect([held.isStopped, held.isLost]).toEqual([true, true]);
  held.close();
});

test("a worker that was told to stop takes no chunk", () => {
  const reason = new Error("stop");
  const held = new HeldLock(lockMs, AbortSignal.abort(reason));
  expect(held.signal.reason).toBe(reason);
  held.close();
});
