import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { AbortGroups } from "../../../src/core/abort.js";

function member() {
  const reasons: unknown[] = [];
  return { reasons, abort: (reason: unknown) => void reasons.push(reason) };
}

test("aborts every member once, with the signal's reason", () => {
  const controller = new AbortController();
  const groups = new AbortGroups();
  const members = [member(), member()];
  for (const each of members) groups.join(controller.signal, each);
  controller.abort("stop");
  expect(members.map((each) => each.reasons)).toEqual([["stop"], ["stop"]]);
});

test("does not abort a member that left", () => {
  const controller = new AbortController();
  const groups = new AbortGroups();
  const [gone, here] = [member(), member()];
  const leave = groups.join(controller.signal, gone);
  groups.join(controller.signal, here);
  leave();
  controller.abort("stop");
  expect([gone.reasons, here.reasons]).toEqual([[], ["stop"]]);
});

test("aborts a member that joined after another left", () => {
  const controller = new AbortController();
  const groups = new AbortGroups();
  const [first, second, third] = [member(), member(), member()];
  const leave = groups.join(controller.signal, first);
  groups.join(controller.signal, second);
  leave();
  groups.join(controller.signal, third);
  controller.abort("stop");
  expect([first, second, third].map(({ reasons }) => reasons)).toEqual([[], ["stop"], ["stop"]]);
});

test("lets members leave while they are aborted", () => {
  const controller = new AbortController();
  const groups = new AbortGroups();
  const ended: number[] = [];
  for (const number of [0, 1, 2]) {
    const leave = groups.join(controller.signal, {
      abort() {
        leave();
        ended.push(number);
      },
    });
  }
  controller.abort("stop");
  expect(ended).toEqual([0, 1, 2]);
});

test("uses one listener per signal, and none without members", () => {
  const { signal } = new AbortController();
  const groups = new AbortGroups();
  const leaving = [0, 1, 2].map(() => groups.join(signal, member()));
  const many = getEventListeners(signal, "abort").length;
  for (const leave of leaving) leave();
  expect([many, getEventListeners(signal, "abort").length]).toEqual([1, 0]);
});

test("keeps signals independent", () => {
  const [one, other] = [new AbortController(), new AbortController()];
  const groups = new AbortGroups();
  const spared = member();
  groups.join(one.signal, member());
  groups.join(other.signal, spared);
  one.abort("stop");
  expect(spared.reasons).toEqual([]);
});
