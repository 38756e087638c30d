import { expect, test } from "vitest";
import { timeOf } from "../../../../src/run/plan/plan-time.js";

const perSecond = (count: number) => ({ count, perMs: 1000 });
const perDay = (count: number) => ({ count, perMs: 86_400_000 });

test("the slowest rate decides", () => {
  const rates = [perSecond(10), perSecond(1)];
  expect(timeOf({ rates }, 150)).toEqual({ seconds: 149, quotas: [], quota_ends: [] });
  expect(timeOf({ rates: [] }, 150).seconds).toBeNull();
});

test("says what is left of a quota, and when it is used up", () => {
  const rates = [perSecond(10), perDay(60)];
  expect(timeOf({ rates, spent: () => 10 }, 150)).toMatchObject({
    quotas: [{ count: 60, spent: 10 }],
    quota_ends: [{ left: 100, used_up_after_seconds: 4.9 }],
  });
});
