import { expect, test } from "vitest";
import { PlannedOrder } from "../../../../src/pipeline/plan/planned-order.js";

type Item = readonly [requests: number, storedAt?: number, accused?: boolean];

function partsOf(items: readonly Item[], budget: number | null, isWorstFirst = true) {
  const order = new PlannedOrder(isWorstFirst);
  const places = items.map(() => order.next());
  // Items are counted once the cache has answered, in any order.
  for (const place of places.toReversed()) {
    const [requests, storedAt, accused = false] = items[place]!;
    order.set(place, requests, storedAt === undefined ? null : { accused, storedAt });
  }
  return order.parts(budget).map(({ part, items, requests, covered_items, covered_until }) => ({
    part,
    counts: [items, requests, covered_items],
    until: covered_until && Date.parse(covered_until),
  }));
}

const items: readonly Item[] = [[2], [1, 30], [0, 10], [2, 20], [2, 40, true], [2, 5, true], [1]];

test("asks about verdicts first, then for the oldest answers, then for the rest", () => {
  expect(partsOf(items, null)).toEqual([
    { part: "expired_with_verdict", counts: [2, 4, 2], until: 40 },
    { part: "expired", counts: [2, 3, 2], until: 30 },
    { part: "rest", counts: [2, 3, 2], until: null },
  ]);
});

test.each([
  [0, [0, 0, 0], [null, null]],
  [1, [0, 0, 0], [null, null]],
  [2, [1, 0, 0], [5, null]],
  [5, [2, 0, 0], [40, null]],
  [6, [2, 1, 0], [40, 20]],
  [7, [2, 2, 0], [40, 30]],
  [9, [2, 2, 1], [40, 30]],
])("a budget of %i covers %j items of the parts", (budget, covered, until) => {
  const parts = partsOf(items, budget);
  expect(parts.map(({ counts }) => counts[2])).toEqual(covered);
  expect(parts.slice(0, 2).map((part) => part.until)).toEqual(until);
});

test("has one part in input order", () => {
  expect(partsOf(items, 4, false)).toEqual([{ part: "all", counts: [6, 10, 2], until: null }]);
});

test("keeps the order of as many items as there are", () => {
  const many = Array.from({ length: 5000 }, (_, n): Item => [1, 10_000 - n]);
  expect(partsOf(many, 1000)[1]).toEqual({
    part: "expired",
    counts: [5000, 5000, 1000],
    until: 6000,
  });
});
