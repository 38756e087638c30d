import { expect, test } from "vitest";
import { hasMember } from "../../../src/service/dataset/ip-list.js";
import { TagLists } from "../../../src/service/snapshots.js";
import { ManualClock } from "../../helpers/manual-clock.js";

const hour = 3_600_000;

function tagLists(clock = new ManualClock()): TagLists {
  const lastUpdate = "2024-01-01T00:00:00Z";
  const tags = new Map(
    ["a:one", "a:two"].map((name) => [
      name,
      { tag: { name }, lastUpdate, list: ["192.0.2.1"], isBorneBy: hasMember(["192.0.2.1"]) },
    ]),
  );
  return new TagLists(tags, clock, hour);
}

function token(lists: TagLists, tag = "a:one"): string {
  return lists.current(tag)?.snapshot ?? "";
}

test("a replaced list stays readable by its token for its lifetime, the current one for ever", async () => {
  const clock = new ManualClock();
  const lists = tagLists(clock);
  const before = token(lists);
  lists.replace("a:one", ["192.0.2.2"]);
  const now = token(lists);
  await clock.advance(hour - 1);
  expect(lists.pinned("a:one", before)?.list).toEqual(["192.0.2.1"]);
  await clock.advance(1);
  expect(lists.pinned("a:one", before)).toBeNull();
  expect(lists.pinned("a:one", now)).not.toBeNull();
});

test("a list that keeps changing keeps a limited number of versions", () => {
  const lists = tagLists();
  const first = token(lists);
  for (let index = 0; index < 100; index += 1) lists.replace("a:one", [`198.51.100.${index}`]);
  expect(lists.pinned("a:one", first)).toBeNull();
});
