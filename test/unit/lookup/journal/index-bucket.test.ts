import { expect, test } from "vitest";
import {
  eachInBucket,
  extendBucket,
  extendedLength,
  findInBucket,
} from "../../../../src/lookup/journal/index-bucket.js";

const hashes = [0xabcd_0000, 0xabcd_0102, 0xabcd_ffff] as const;

function extended(bytes: Buffer | undefined, added: readonly number[], numbers: number[]): Buffer {
  const more = Uint32Array.from(added);
  const room = Buffer.alloc(extendedLength(bytes, more));
  return extendBucket(room, bytes, more, Uint32Array.from(numbers));
}

function bucket(): Buffer {
  return extended(undefined, hashes, [1, 2 ** 32 - 1, 3]);
}

test("finds the sequence number of each hash", () => {
  expect(hashes.map((hash) => findInBucket(bucket(), hash))).toEqual([1, 2 ** 32 - 1, 3]);
});

test("finds 0 for a hash that it does not have", () => {
  expect(findInBucket(bucket(), 0xabcd_0201)).toBe(0);
});

test("finds the sequence number that was added last", () => {
  const longer = extended(bucket(), [hashes[1]], [77]);
  expect([findInBucket(longer, hashes[1]), findInBucket(longer, hashes[0])]).toEqual([77, 1]);
});

test("visits the hashes in full", () => {
  const visited: number[] = [];
  eachInBucket(bucket(), (hash) => visited.push(hash));
  expect(visited).toEqual([...hashes]);
});
