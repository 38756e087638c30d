import { expect, test, vi } from "vitest";
import { Backlog } from "../../../../src/lookup/pace/backlog.js";

test("is crowded from when enough wait until half of them do", () => {
  const backlog = new Backlog(10);
  const crowded = [0, 9, 10, 12, 6, 5, 9, 10].map((waiting) => {
    backlog.note(waiting);
    return backlog.crowded;
  });
  expect(crowded).toEqual([false, false, true, true, true, false, false, true]);
});

test("tells once that there is room again", () => {
  const backlog = new Backlog(4);
  const onRoom = vi.fn<() => void>();
  backlog.onRoom(onRoom);
  for (const waiting of [4, 3, 2, 1, 0]) backlog.note(waiting);
  expect(onRoom).toHaveBeenCalledTimes(1);
});

test("of one that waits there is room when none does", () => {
  const backlog = new Backlog(1);
  backlog.note(1);
  expect(backlog.crowded).toBe(true);
  backlog.note(0);
  expect(backlog.crowded).toBe(false);
});
