import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMarked, SharedItems } from "../../../../src/pipeline/workers/shared-items.js";
import { guidedRows } from "../../../../src/pipeline/workers/split-for-workers.js";

const host = (n: number) => ({ kind: "domain", value: `host-${n}.example.com` }) as const;

describe("marks of shared items", () => {
  test("no item of several chunks is missing", () => {
    const rows = fc.array(fc.record({ item: fc.nat(60), chunk: fc.nat(5) }), { maxLength: 200 });
    const missing = fc.property(rows, (all) => {
      const items = new SharedItems();
      const sorted = all.toSorted((a, b) => a.chunk - b.chunk);
      for (const { item, chunk } of sorted) items.add(host(item), chunk);
      return all.every(({ item }) => {
        const chunks = new Set(all.filter((row) => row.item === item).map((row) => row.chunk));
        return chunks.size === 1 || isMarked(items.marks, host(item));
      });
    });
    expect(fc.check(missing, { numRuns: 8 }).counterexample).toBeNull();
  });

  test("hardly any item of a single chunk is marked", () => {
    const items = new SharedItems();
    const count = 200_000;
    for (let n = 0; n < count; n++) items.add(host(n), Math.floor(n / 20_000));
    for (let n = 0; n < 1_000; n++) items.add(host(n), 10);
    let marked = 0;
    for (let n = 1_000; n < count; n++) if (isMarked(items.marks, host(n))) marked++;
    expect(marked).toBeLessThan(count / 1_000);
    for (let n = 0; n < 1_000; n++) expect(isMarked(items.marks, host(n))).toBe(true);
  });

  test("items of chunks beyond the last number are marked", () => {
    const items = new SharedItems();
    items.add(host(1), 70_000);
    items.add(host(1), 80_000);
    expect(isMarked(items.marks, host(1))).toBe(true);
  });
});

describe("rows of a worker's chunk", () => {
  const chunks = (total: number, workers: number): readonly number[] => {
    const rowsOf = guidedRows(workers);
    const found: number[] = [];
    let begun = 0;
    for (let row = 1; row <= total; row++) {
      if (row - begun < rowsOf(row, row / total) && row < total) continue;
      found.push(row - begun);
      begun = row;
    }
    return found;
  };

  test("are many at first and fewer towards the end", () => {
    const sizes = chunks(1_000_000, 2);
    expect(sizes.slice(0, 3)).toEqual([100_000, 100_000, 100_000]);
    expect(sizes.length).toBeLessThan(25);
    expect(Math.max(...sizes.slice(-4))).toBeLessThanOrEqual(12_000);
    const few = chunks(200_000, 2);
    expect(Math.max(...few)).toBeLessThanOrEqual(50_000);
    expect(Math.max(...few.slice(-2))).toBeLessThanOrEqual(12_000);
  });

  test("are a fixed number if the size of the input is unknown", () => {
    expect([guidedRows(2)(1, null), guidedRows(8)(1e6, null)]).toEqual([25_000, 25_000]);
  });
});
