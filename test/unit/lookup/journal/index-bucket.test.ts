import { expect, test } from "vitest";
import {
  bucketOf,
  eachInBucket,
  extendBucket,
  findInBucket,
} from "../../../../src/lookup/journal/index-bucket.js";

const hashes = [0xabcd_0000, 0xabcd_0102, 0xabcd_ffff] as const;

function bucket(): Buffer {
  return extendBucket(undefined, Uint32Array.from(hashes), Uint32Array.of(1, 2 ** 32 - 1, 3));
}

test("finds the sequence number of each hash", () => {
  expect(hashes.map((hash) => findInBucket(bucket(), hash))).toEqual([1, 2 ** 32 - 1, 3]);
});

test("finds 0 for a hash that it does not have", () => {
  expect(findInBucket(bucket(), 0xabcd_0201)).toBe(0);
});

test("finds the sequence number that was added last", () => {
  const extended = extendBucket(bucket(), Uint32Array.of(hashes[1]), Uint32Array.of(77));
  expect([findInBucket(extended, hashes[1]), findInBucket(extended, hashes[0])]).toEqual([77, 1]);
});

test("visits the hashes in full", () => {
  const visited: number[] = [];
  eachInBucket(bucketOf(hashes[0]), bucket(), (hash) => visited.push(hash));
  expect(visited).toEqual([...hashes]);
});
