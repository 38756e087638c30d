import { expect, test } from "vitest";
import { type PlannedPace, timeOf } from "../../../../src/run/plan/plan-time.js";

const perSecond = (count: number) => ({ count, perMs: 1000 });
const perDay = (count: number) => ({ count, perMs: 86_400_000 });

/** 100 queries and 50 quick checks. */
const requestsTo = (endpoint: PlannedPace["endpoint"]): number =>
  endpoint === null ? 150 : endpoint === "query" ? 100 : 50;

test("the slowest rate decides, whatever it is for", () => {
  const paces: PlannedPace[] = [
    { endpoint: null, rates: [perSecond(10)] },
    { endpoint: "query", rates: [perSecond(1)] },
  ];
  expect(timeOf(paces, requestsTo)).toEqual({ seconds: 99, quotas: [], quota_ends: [] });
  expect(timeOf([{ endpoint: null, rates: [] }], requestsTo).seconds).toBeNull();
});

test("names the endpoint of a quota", () => {
  const paces: PlannedPace[] = [{ endpoint: "query", rates: [perDay(60)], spent: () => 10 }];
  expect(timeOf(paces, requestsTo)).toMatchObject({
    quotas: [{ endpoint: "query", count: 60, spent: 10 }],
    quota_ends: [{ endpoint: "query", left: 50 }],
  });
});
