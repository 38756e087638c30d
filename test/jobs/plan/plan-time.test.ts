import { expect, test } from "vitest";
import { timeOf } from "../../../src/jobs/plan/plan.js";

const perSecond = (count: number) => ({ count, perMs: 1000 });
const perDay = (count: number) => ({ count, perMs: 86_400_000 });

test("the slowest rate decides", () => {
  const rates = [perSecond(10), perSecond(1)];
  const none = { quotas: [], quota_ends: [], nights: 1 };
  expect(timeOf({ rates }, 150)).toEqual({ seconds: 149, ...none });
  expect(timeOf({ rates: [] }, 150).seconds).toBeNull();
});

test("says what is left of a quota, and when it is used up", () => {
  const rates = [perSecond(10), perDay(60)];
  expect(timeOf({ rates, spent: () => 10 }, 150)).toMatchObject({
    quotas: [{ count: 60, spent: 10 }],
    quota_ends: [{ left: 100, used_up_after_seconds: 4.9 }],
  });
});

test.each([
  // 4,001 rows with one request each.
  [4_001, [perDay(2_500)], 0, 2],
  [4_001, [perDay(2_500)], 1_000, 3],
  [4_001, [perDay(2_500)], 2_500, 3],
  [8_002, [perDay(2_500)], 0, 4],
  [2_500, [perDay(2_500)], 0, 1],
  [2_501, [perDay(2_500), perSecond(10)], 0, 2],
  [4_001, [perDay(2_500), { count: 1_000, perMs: 3_600_000 }], 0, 5],
  [4_001, [perSecond(1)], 0, 1],
  [0, [perDay(1)], 1, 1],
])("%i requests at %j with %i used take %4$i nights", (requests, rates, used, nights) => {
  const spent = () => used;
  expect(timeOf({ rates, spent }, requests).nights).toBe(nights);
});
