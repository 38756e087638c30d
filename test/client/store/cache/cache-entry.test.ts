import { expect, test } from "vitest";
import {
  answerKind,
  encodeEntry,
  isFresh,
  readEntryHead,
} from "../../../../src/client/store/cache/cache-entry.js";
import { complete, failed, invalid, partial, quick } from "../../lookup/findings.js";

const day = 86_400_000;
const start = Date.UTC(2024, 0, 1);
const head = { kind: "bogon", storedAt: start } as const;
const entry = encodeEntry("query ip é", complete({ tags: ["é"] }), head);

test("any changed byte of an entry is detected", () => {
  const bytes = Buffer.from(entry);
  for (let at = 0; at < bytes.length; at++) {
    for (const bit of [0x01, 0x20, 0x80]) {
      bytes[at]! ^= bit;
      expect(readEntryHead(bytes.toString())).toBeNull();
      bytes[at]! ^= bit;
    }
  }
});

test.each([
  ["full", 1],
  ["invalid", 1],
  ["partial", 1 / 24],
  ["bogon", 30],
] as const)("a %s answer is fresh for %d times the time of a full one", (kind, share) => {
  const kept = { kind, storedAt: start };
  expect(isFresh(kept, start + share * day - 1, day)).toBe(true);
  expect(isFresh(kept, start + share * day, day)).toBe(false);
});

test("an answer further in the future than its lifetime is not fresh", () => {
  const from = (ahead: number) => ({ kind: "full", storedAt: start + ahead }) as const;
  expect(isFresh(from(day - 1), start, day)).toBe(true);
  expect(isFresh(from(day), start, day)).toBe(false);
  expect(isFresh(from(3650 * day), start, day)).toBe(false);
});

test("the answer determines the kind", () => {
  const lacking = partial({ asn: null }, ["asn"]);
  const bogon = { item: "192.0.2.1", type: "IP_BOGON", bogon: true };
  expect([
    answerKind(complete()),
    answerKind(complete({ type: "IP_BOGON", bogon: true })),
    answerKind(quick(bogon)),
    answerKind(lacking),
    answerKind(invalid()),
    answerKind(failed("timeout")),
  ]).toEqual(["full", "bogon", "bogon", "partial", "invalid", null]);
});
