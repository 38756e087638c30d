import { expect, test } from "vitest";
import { ServerTime } from "../../../../../src/lookup/pace/shared/server-time.js";

/** A server whose clock shows `aheadMs` more than the monotonic clock of this process. */
const serverUs = (localMs: number, aheadMs: number): number => (localMs + aheadMs) * 1000;

test("takes the middle of a call as the time of the server's answer", () => {
  const time = new ServerTime();
  time.note(100, 110, 5_000_000);
  expect(time.toLocalMs(5_000_000)).toBe(105);
  expect(time.toServerMs(105)).toBe(5_000);
});

test("is more exact after a quick call, and stays so after slow ones", () => {
  const time = new ServerTime();
  const aheadMs = 9_000;
  // The answer to a slow call was on its way for almost all of the time.
  time.note(0, 200, serverUs(1, aheadMs));
  expect(Math.abs(time.toServerMs(200) - (200 + aheadMs))).toBeGreaterThan(90);
  time.note(300, 302, serverUs(301, aheadMs));
  expect(time.toServerMs(302)).toBeCloseTo(302 + aheadMs, 0);
  time.note(400, 600, serverUs(401, aheadMs));
  expect(time.toServerMs(600)).toBeCloseTo(600 + aheadMs, 0);
});

test("follows a clock that drifts", () => {
  const time = new ServerTime();
  for (let ms = 0; ms <= 600_000; ms += 1_000) {
    time.note(ms, ms + 2, serverUs((ms + 1) * 1.0001, 0));
  }
  expect(Math.abs(time.toServerMs(600_000) - 600_060)).toBeLessThan(2);
});

test.each([3_600_000, -3_600_000])("follows a clock that is set by %i ms at once", (setBy) => {
  const time = new ServerTime();
  time.note(0, 2, serverUs(1, 50));
  time.note(1_000, 1_002, serverUs(1_001, 50 + setBy));
  expect(time.toServerMs(1_001)).toBe(1_001 + 50 + setBy);
});
