import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines, type DeadlineSeat } from "../../../../src/api/http/deadlines.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** Joins under a name; who expires is noted and leaves, as an exchange does. */
function members(deadlines: Deadlines): {
  readonly expired: string[];
  readonly join: (name: string) => DeadlineSeat;
} {
  const expired: string[] = [];
  return {
    expired,
    join(name) {
      const seat = deadlines.join({
        expire() {
          expired.push(name);
          deadlines.leave(seat);
        },
      });
      return seat;
    },
  };
}

test("each ends when its own time is over, whoever came before", () => {
  const deadlines = new Deadlines(1000);
  const { expired, join } = members(deadlines);
  join("a");
  vi.advanceTimersByTime(400);
  join("b");
  vi.advanceTimersByTime(599);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["a"]);
  vi.advanceTimersByTime(399);
  expect(expired).toEqual(["a"]);
  vi.advanceTimersByTime(1);
  expect(expired).toEqual(["a", "b"]);
});

test.each([
  ["first", 0],
  ["middle", 1],
  ["last", 2],
])("who left does not end: the %s one", (_name, index) => {
  const deadlines = new Deadlines(1000);
  const { expired, join } = members(deadlines);
  const names = ["a", "b", "c"];
  const seats = names.map((name) => join(name));
  deadlines.leave(seats[index]!);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(names.toSpliced(index, 1));
});

test("no timer is left when nobody waits", () => {
  const deadlines = new Deadlines(1000);
  const { join } = members(deadlines);
  deadlines.leave(join("a"));
  expect(vi.getTimerCount()).toBe(0);
  join("b");
  vi.advanceTimersByTime(1000);
  expect(vi.getTimerCount()).toBe(0);
});
