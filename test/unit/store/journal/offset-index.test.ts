import fc from "fast-check";
import { expect, test } from "vitest";
import { OffsetIndex } from "../../../../src/store/journal/offset-index.js";

test("every record is in its hash's chain, newest first", () => {
  const hash = fc.integer({ min: 0, max: 2 ** 32 - 1 });
  fc.assert(
    fc.property(fc.array(hash, { maxLength: 300 }), (hashes) => {
      const index = new OffsetIndex(16);
      const before = hashes.map((each, at) => {
        const previous = index.newest(each);
        index.add(each, at + 1);
        return previous;
      });
      for (const each of hashes) {
        const places = [];
        for (let offset = index.newest(each); offset > 0;) {
          places.push(offset);
          offset = index.before(offset, before[offset - 1] as number);
        }
        const chained = hashes.flatMap((other, at) => ((other ^ each) & 15 ? [] : [at + 1]));
        expect(places).toEqual(chained.toReversed());
      }
    }),
  );
});

test("a chain ends, even if its records form a loop", () => {
  const index = new OffsetIndex(16);
  expect([index.before(5, 5), index.before(5, 9), index.before(5, 4)]).toEqual([0, 0, 4]);
});
