import fc from "fast-check";
import { expect, test } from "vitest";
import { HashTable } from "../../../../src/store/journal/hash-table.js";
import { PairSorter } from "../../../../src/store/journal/pair-sorter.js";

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const number = fc.integer({ min: 1, max: 2 ** 32 - 1 });

test("has every pair of a table in the order of the hashes, again and again", () => {
  const sorter = new PairSorter(4);
  fc.assert(
    fc.property(fc.array(fc.tuple(uint32, number)), (entries) => {
      const table = new HashTable(16);
      for (const [hash, of] of entries) table.set(hash, of);
      const expected = [...new Map(entries)].sort(([a], [b]) => a - b).flat();
      expect([...sorter.sort(table)]).toEqual(expected);
    }),
  );
});
