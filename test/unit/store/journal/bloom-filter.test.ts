import { expect, test } from "vitest";
import { BloomFilter } from "../../../../src/store/journal/bloom-filter.js";
import { textHash } from "../../../../src/store/text-hash.js";

function filled(bytes: number, count: number): BloomFilter {
  const filter = new BloomFilter(bytes);
  for (let n = 0; n < count; n++) filter.add(textHash(`in ${n}`));
  return filter;
}

test("denies nothing that was added", () => {
  const filter = filled(1024, 5000);
  const denied = Array.from({ length: 5000 }, (_, n) => textHash(`in ${n}`)).filter(
    (hash) => !filter.mayHave(hash),
  );
  expect(denied).toEqual([]);
});

test("denies everything while it is empty", () => {
  const filter = new BloomFilter(1024);
  expect([0, 1, 2 ** 31, 2 ** 32 - 1].map((hash) => filter.mayHave(hash))).toEqual(
    Array.from({ length: 4 }, () => false),
  );
});

test("gives few false alarms at 16 bits a number", () => {
  const filter = filled(65_536, 32_768);
  let alarms = 0;
  for (let n = 0; n < 20_000; n++) if (filter.mayHave(textHash(`out ${n}`))) alarms++;
  expect(alarms / 20_000).toBeLessThan(0.02);
});
