import fc from "fast-check";
import { expect, test } from "vitest";
import { recordParts } from "../../../../src/client/store/finding-record.js";
import {
  frameRecord,
  maxFramedBytes,
  recordsIn,
  offsetUnit,
} from "../../../../src/client/store/journal/record-log.js";
import { complete } from "../../lookup/attempts.js";

/** Records of findings with texts of these lengths, and their offsets from `first` on. */
function framed(lengths: readonly number[], first: number): { bytes: Buffer; places: number[] } {
  const all = lengths.map((length) => recordParts("key", complete({ text: "x".repeat(length) })));
  const bytes = Buffer.alloc(all.reduce((sum, parts) => sum + maxFramedBytes(parts), 0));
  let at = 0;
  const places = all.map((parts) => {
    const offset = first + at / offsetUnit;
    at = frameRecord(bytes, at, { previous: 0, hash: offset }, parts);
    return offset;
  });
  return { bytes: bytes.subarray(0, at), places };
}

const lengths = fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 1, maxLength: 20 });

test("every intact record is found, wherever the section ends", () => {
  fc.assert(
    fc.property(lengths, fc.integer({ min: 1, max: 3000 }), (texts, partBytes) => {
      const { bytes, places } = framed(texts, 1);
      const size = offsetUnit + bytes.length;
      const found: number[] = [];
      let room = partBytes;
      for (let at = offsetUnit; at < size;) {
        const part = bytes.subarray(at - offsetUnit, at - offsetUnit + room);
        const { records, next, needed } = recordsIn(part, at, size);
        found.push(...records.map(({ offset }) => offset));
        room = Math.max(room, needed);
        at = next;
      }
      expect(found).toEqual(places);
    }),
  );
});

test("a damaged byte affects only its own record", () => {
  fc.assert(
    fc.property(lengths, fc.nat(), fc.integer({ min: 1, max: 255 }), (texts, seed, change) => {
      const { bytes, places } = framed(texts, 7);
      const at = seed % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ change;
      const size = 7 * offsetUnit + bytes.length;
      const found = recordsIn(bytes, 7 * offsetUnit, size).records.map(({ offset }) => offset);
      const damaged = places.findLast((offset) => (offset - 7) * offsetUnit <= at);
      expect(found).toEqual(expect.arrayContaining(places.filter((offset) => offset !== damaged)));
      expect(places).toEqual(expect.arrayContaining(found));
    }),
  );
});
