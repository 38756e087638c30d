import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortGroups } from "../../../../src/api/http/abort-groups.js";

function member() {
  const reasons: unknown[] = [];
  return { reasons, abort: (reason: unknown) => void reasons.push(reason) };
}

test("aborting ends every member once, with the signal's reason", () => {
  const controller = new AbortController();
  const group = new AbortGroups().of(controller.signal);
  const members = [member(), member()];
  for (const each of members) group.join(each);
  controller.abort("stop");
  expect(members.map((each) => each.reasons)).toEqual([["stop"], ["stop"]]);
});

test("a member that left is not ended", () => {
  const controller = new AbortController();
  const group = new AbortGroups().of(controller.signal);
  const [gone, here] = [member(), member()];
  const seat = group.join(gone);
  group.join(here);
  group.leave(seat);
  controller.abort("stop");
  expect([gone.reasons, here.reasons]).toEqual([[], ["stop"]]);
});

test("a seat that was left is taken again", () => {
  const group = new AbortGroups().of(new AbortController().signal);
  const seat = group.join(member());
  group.join(member());
  group.leave(seat);
  expect(group.join(member())).toBe(seat);
});

test("members may leave while they are ended", () => {
  const controller = new AbortController();
  const group = new AbortGroups().of(controller.signal);
  const seats = [0, 1, 2].map(() => {
    const seat = group.join({ abort: () => group.leave(seat) });
    return seat;
  });
  controller.abort("stop");
  expect(seats).toEqual([0, 1, 2]);
});

test("a signal has one listener however many members there are, and none without any", () => {
  const { signal } = new AbortController();
  const groups = new AbortGroups();
  const seats = [0, 1, 2].map(() => groups.of(signal).join(member()));
  const many = getEventListeners(signal, "abort").length;
  for (const seat of seats) groups.of(signal).leave(seat);
  expect([many, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});

test("signals have nothing to do with each other", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const groups = new AbortGroups();
  const spared = member();
  groups.of(one.signal).join(member());
  groups.of(other.signal).join(spared);
  one.abort("stop");
  expect(spared.reasons).toEqual([]);
});
