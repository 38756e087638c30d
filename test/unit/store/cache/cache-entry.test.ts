import { expect, test } from "vitest";
import { writeKeyHash } from "../../../../src/store/cache/cache-key.js";
import {
  decodeEntry,
  encodeEntry,
  isIntact,
  readEntryHead,
} from "../../../../src/store/cache/cache-entry.js";
import { complete } from "../../lookup/findings.js";

const head = { kind: "bogon", keptAt: Date.UTC(2024, 0, 1) } as const;

function entry(key: string): Buffer {
  return encodeEntry(key, complete({ tags: ["é"] }), head, (into) => writeKeyHash(key, into));
}

test("an entry says what it holds, since when and under which key", () => {
  const bytes = entry("key é");
  expect(isIntact(bytes)).toBe(true);
  expect(readEntryHead(bytes)).toEqual(head);
  expect(decodeEntry(bytes)).toEqual({ key: "key é", value: complete({ tags: ["é"] }) });
});

test("no byte of an entry changes unnoticed", () => {
  const bytes = entry("key");
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [0x01, 0x80]) {
      bytes[at]! ^= bit;
      expect(isIntact(bytes)).toBe(false);
      bytes[at]! ^= bit;
    }
  }
});

test("a piece of an entry is noticed", () => {
  const bytes = entry("key");
  for (let length = 0; length < bytes.length; length++) {
    expect(isIntact(bytes.subarray(0, length))).toBe(false);
  }
});
