import { expect, test } from "vitest";
import { assertRoom } from "../../../src/tags/room.js";

const billion = { tag: "a:b", total: 1_000_000_000, v6Share: 0 };

test.each([
  { disk: 16e9, memory: 4e9 },
  { disk: null, memory: 4e9 },
])("accepts a list that may fit: %j", (room) => {
  expect(() => assertRoom(billion, room)).not.toThrow();
});

test.each([
  [
    { disk: 15.9e9, memory: 4e9 },
    "has a total of 1,000,000,000 and needs at least 16 GB on disk (15.9 GB free)",
  ],
  [{ disk: null, memory: 3.9e9 }, "needs at least 4 GB of memory (3.9 GB available)"],
  [{ disk: 0, memory: 1 }, "16 GB on disk (0 GB free), and 4 GB of memory ("],
])("refuses a list that cannot fit, with both numbers: %j", (room, words) => {
  expect(() => assertRoom(billion, room)).toThrow(words);
});

test("IPv6 addresses need four times the memory", () => {
  const room = { disk: null, memory: 15e9 };
  expect(() => assertRoom({ ...billion, v6Share: 1 }, room)).toThrow("of memory");
  expect(() => assertRoom({ ...billion, v6Share: 0.5 }, room)).not.toThrow();
});
