import fc from "fast-check";
import { expect, test } from "vitest";
import { HashTable } from "../../../../src/lookup/journal/hash-table.js";
import { SortedRun } from "../../../../src/lookup/journal/sorted-run.js";

function runOf(entries: Iterable<readonly [number, number]>): SortedRun {
  const table = new HashTable(16);
  for (const [hash, number] of entries) table.set(hash, number);
  const run = new SortedRun(2 * table.size);
  run.takeFrom(table);
  return run;
}

const bucketOf = (hash: number): number => hash >>> 16;

test("hands over everything in the order of the hashes, a bucket whole", () => {
  const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  const near = fc.integer({ min: 0, max: 300_000 });
  const pairs = fc.array(
    fc.tuple(fc.oneof(uint32, near), fc.integer({ min: 1, max: 2 ** 32 - 1 })),
  );
  fc.assert(
    fc.property(pairs, fc.integer({ min: 1, max: 10 }), (entries, count) => {
      const run = runOf(entries);
      const taken: [number, number][] = [];
      const buckets: number[] = [];
      while (!run.done) {
        run.take(count, bucketOf, (bucket, hashes, numbers) => {
          buckets.push(bucket);
          hashes.forEach((hash, i) => taken.push([hash, numbers[i] as number]));
        });
      }
      expect(taken).toEqual([...new Map(entries)].sort(([a], [b]) => a - b));
      expect(new Set(buckets).size).toBe(buckets.length);
    }),
  );
});

test("finds what was taken and what was not", () => {
  const run = runOf([
    [5, 50],
    [900_000, 90],
    [4_000_000_000, 40],
  ]);
  run.take(1, bucketOf, () => undefined);
  expect([5, 900_000, 4_000_000_000].map((hash) => run.find(hash))).toEqual([50, 90, 40]);
});

test("finds 0 for what it never had", () => {
  const run = runOf([[5, 50]]);
  expect([run.find(4), run.find(6)]).toEqual([0, 0]);
});

test("is done at once when there is nothing in it", () => {
  expect(runOf([]).done).toBe(true);
});
