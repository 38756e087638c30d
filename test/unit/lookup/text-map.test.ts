import fc from "fast-check";
import { expect, test } from "vitest";
import { TextMap } from "../../../src/lookup/text-map.js";

test("has what a Map has, whatever is done to it", () => {
  // Few keys, so that they are set, found and removed again and again.
  const key = fc.integer({ min: 0, max: 300 }).map((n) => `query ip 192.0.2.${n}`);
  const step = fc.oneof(
    fc.record({ set: key, value: fc.integer() }),
    fc.record({ delete: key }),
    fc.record({ get: key }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1500, size: "max" }), (steps) => {
      const [map, model] = [new TextMap<number>(), new Map<string, number>()];
      const found: (number | null)[] = [];
      const expected: (number | null)[] = [];
      for (const each of steps) {
        if ("set" in each) {
          map.set(each.set, each.value);
          model.set(each.set, each.value);
        } else if ("delete" in each) {
          map.delete(each.delete);
          model.delete(each.delete);
        } else {
          found.push(map.get(each.get));
          expected.push(model.get(each.get) ?? null);
        }
      }
      expect(found).toEqual(expected);
      expect(map.size).toBe(model.size);
      for (const [name, value] of model) expect(map.get(name)).toBe(value);
    }),
    { numRuns: 40 },
  );
});

test("holds many times what it began with", () => {
  const map = new TextMap<number>();
  for (let n = 0; n < 5000; n++) map.set(`key ${n}`, n);
  for (let n = 0; n < 5000; n += 2) map.delete(`key ${n}`);
  const found = Array.from({ length: 5000 }, (_, n) => map.get(`key ${n}`));
  expect(found).toEqual(found.map((_, n) => (n % 2 === 0 ? null : n)));
  expect(map.size).toBe(2500);
});
