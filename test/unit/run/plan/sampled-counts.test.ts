import { expect, test } from "vitest";
import { SampledCounts } from "../../../../src/run/plan/sampled-counts.js";
import { keyHash } from "../../../../src/store/cache-key.js";

function countOf(distinct: number, capacity: number): number {
  const counts = new SampledCounts(capacity);
  for (let n = 0; n < 2 * distinct; n++) {
    const hash = keyHash(`ip ${n % distinct}`);
    if (counts.wants(hash)) counts.set(hash, 2);
  }
  return counts.total;
}

test("is exact up to the capacity", () => {
  expect(countOf(1000, 1000)).toBe(2000);
});

test("estimates beyond it", () => {
  const estimate = countOf(40_000, 4096);
  expect(estimate).not.toBe(80_000);
  expect(Math.abs(estimate - 80_000)).toBeLessThan(0.1 * 80_000);
});
