import { expect, test } from "vitest";
import { answerKind, isFresh } from "../../../../src/store/cache/shelf-life.js";
import { complete, failed, invalid, partial, quick } from "../../lookup/findings.js";

const hour = 3_600_000;
const day = 24 * hour;

test.each([
  ["full", 1],
  ["invalid", 1],
  ["partial", 1 / 24],
  ["bogon", 30],
] as const)("a %s answer is fresh for %d times the time of a full one", (kind, share) => {
  const kept = Date.UTC(2024, 0, 1);
  expect(isFresh(kind, kept, kept + share * day - 1, day)).toBe(true);
  expect(isFresh(kind, kept, kept + share * day, day)).toBe(false);
});

test("an answer from further ahead than it may be old is not fresh", () => {
  const now = Date.UTC(2024, 0, 1);
  expect(isFresh("full", now + day - 1, now, day)).toBe(true);
  expect(isFresh("full", now + day, now, day)).toBe(false);
  expect(isFresh("full", now + 3650 * day, now, day)).toBe(false);
});

test("nothing is fresh for no time", () => {
  expect(isFresh("bogon", 1000, 1000, 0)).toBe(false);
});

test("kinds follow from what was answered", () => {
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
