import { expect, test } from "vitest";
import { hasMember } from "../../../src/service/dataset/dataset.js";
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

test("a token has exactly 24 characters", () => {
  expect(token(tagLists())).toHaveLength(24);
});

test("the token stays while the list does", () => {
  const lists = tagLists();
  expect(token(lists)).toBe(token(lists));
});

test("the same list has the same token in another service", () => {
  expect(token(tagLists())).toBe(token(tagLists()));
});

test("tags with the same addresses have different tokens", () => {
  const lists = tagLists();
  expect(token(lists, "a:one")).not.toBe(token(lists, "a:two"));
});

test("a changed list gets another token and the time of its change", () => {
  const lists = tagLists(new ManualClock({ startMs: Date.UTC(2024, 5, 1) }));
  const before = token(lists);
  const { snapshot, lastUpdate } = lists.replace("a:one", ["192.0.2.2"]);
  expect(snapshot).not.toBe(before);
  expect(lastUpdate).toBe("2024-06-01T00:00:00.000Z");
});

test("the token of a replaced list still yields its addresses", () => {
  const lists = tagLists();
  const before = token(lists);
  lists.replace("a:one", ["192.0.2.2", "192.0.2.3"]);
  expect(lists.pinned("a:one", before)?.list).toEqual(["192.0.2.1"]);
});

test("a replaced list expires after its lifetime", async () => {
  const clock = new ManualClock();
  const lists = tagLists(clock);
  const before = token(lists);
  lists.replace("a:one", ["192.0.2.2"]);
  await clock.advance(hour - 1);
  expect(lists.pinned("a:one", before)).not.toBeNull();
  await clock.advance(1);
  expect(lists.pinned("a:one", before)).toBeNull();
});

test("the current list does not expire", async () => {
  const clock = new ManualClock();
  const lists = tagLists(clock);
  const now = token(lists);
  await clock.advance(100 * hour);
  expect(lists.pinned("a:one", now)).not.toBeNull();
});

test("another tag's token is unknown", () => {
  const lists = tagLists();
  expect(lists.pinned("a:one", token(lists, "a:two"))).toBeNull();
});

test("expired tokens are unknown, and the list gets a new one", () => {
  const lists = tagLists();
  const before = token(lists);
  lists.expire("a:one");
  expect(lists.pinned("a:one", before)).toBeNull();
  expect(lists.current("a:one")?.list).toEqual(["192.0.2.1"]);
});

test("a list that keeps changing keeps a limited number of versions", () => {
  const lists = tagLists();
  const first = token(lists);
  for (let index = 0; index < 100; index += 1) lists.replace("a:one", [`198.51.100.${index}`]);
  expect(lists.pinned("a:one", first)).toBeNull();
});
