import fc from "fast-check";
import { expect, test } from "vitest";
import { HashTable } from "../../../../src/store/journal/hash-table.js";

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const pairs = fc.array(fc.tuple(uint32, fc.integer({ min: 1, max: 2 ** 32 - 1 })));

function tableOf(entries: readonly (readonly [number, number])[]): HashTable {
  const table = new HashTable(4);
  for (const [hash, number] of entries) table.set(hash, number);
  return table;
}

test("has for every hash the number that was set last, however much it grows", () => {
  fc.assert(
    fc.property(pairs, (entries) => {
      const table = tableOf(entries);
      for (const [hash, number] of new Map(entries)) expect(table.get(hash)).toBe(number);
    }),
  );
});

test("visits every hash once", () => {
  fc.assert(
    fc.property(pairs, (entries) => {
      const visited: [number, number][] = [];
      const table = tableOf(entries);
      table.forEach((hash, number) => visited.push([hash, number]));
      expect(new Map(visited)).toEqual(new Map(entries));
      expect(visited).toHaveLength(table.size);
    }),
  );
});

test("has 0 for a hash that was not set", () => {
  expect(tableOf([[7, 1]]).get(23)).toBe(0);
});

test("has nothing after it was cleared", () => {
  const table = tableOf([
    [0, 1],
    [4_294_967_295, 2],
  ]);
  table.clear();
  expect([table.size, table.get(0), table.get(4_294_967_295)]).toEqual([0, 0, 0]);
});
