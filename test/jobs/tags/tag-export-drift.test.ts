import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import { exportedTag, exporterOf, linesOf } from "./exporting.js";
import { addresses, type Bend, failure, served, type TagServer } from "./tag-server.js";

/** Entries for three pages. */
const many = addresses(25_000);

function offsets(server: TagServer): number[] {
  return server.pages.map(({ offset }) => offset);
}

test.each<[string, Bend]>([
  ["snapshot", (page) => ({ ...page, snapshot: "z".repeat(24) })],
  ["lastUpdate", (page) => ({ ...page, lastUpdate: "2025-01-01T00:00:00Z" })],
  ["total", (page) => ({ ...page, total: page.total + 1 })],
  ["refused", () => failure("snapshot has expired")],
])("a list whose %s changes while it is read fails after three more times", async (what, bend) => {
  const { server, run } = await exporterOf({ "a:b": served(many) }, (page, request) =>
    request.offset > 0 ? bend(page, request) : page,
  );
  const report = await run();
  expect(report.tags[0]?.error).toEqual({
    code: "snapshot_drift",
    message: expect.stringMatching(
      new RegExp(`a:b changed during each of 4 attempts to read it; .*${what}`),
    ) as string,
  });
  expect(offsets(server)).toEqual([0, 10_000, 0, 10_000, 0, 10_000, 0, 10_000]);
});

test("a list that stops changing is exported in its new form", async () => {
  const { server, folder, run } = await exporterOf({ "a:b": served(many) }, (page, { at }) => {
    if (at !== 1) return page;
    server.lists["a:b"] = served(addresses(12_000, 7), "b");
    return failure("snapshot has expired");
  });
  await run();
  expect(await exportedTag(folder, "a:b")).toMatchObject({
    total: 12_000,
    snapshot: "b".repeat(24),
  });
  expect(offsets(server)).toEqual([0, 10_000, 0, 10_000]);
});

test.each<[string, Bend, number, string, RegExp]>([
  [
    "an entry twice, over two pages",
    (page, { offset }) =>
      offset === 10_000 ? { ...page, entries: [many[0]!, ...page.entries.slice(1)] } : page,
    3,
    "count_mismatch",
    /24,999 distinct addresses, but its reported total is 25,000; it has 1 duplicate entry/,
  ],
  [
    "an entry twice, spelt in two ways",
    (page, { offset }) =>
      offset === 0
        ? { ...page, entries: ["2001:db8::1", "2001:DB8:0::1", ...page.entries.slice(2)] }
        : page,
    3,
    "count_mismatch",
    /24,999 distinct/,
  ],
  [
    "a page that is empty before the end",
    (page, { offset }) => (offset > 0 ? { ...page, entries: [] } : page),
    2,
    "count_mismatch",
    /has 10,000 distinct addresses, but its reported total is 25,000$/,
  ],
  [
    "more entries than its total",
    (page) => ({ ...page, total: 9_999 }),
    1,
    "count_mismatch",
    /10,000 distinct addresses, but its reported total is 9,999/,
  ],
  [
    "an entry that is no address",
    (page, { offset }) =>
      offset === 10_000 ? { ...page, entries: [...page.entries.slice(1), "192.0.2.0/24"] } : page,
    2,
    "invalid_entry",
    /entry 20000 of the list of tag a:b is "192\.0\.2\.0\/24", which is not an IP address/,
  ],
  [
    "a page of another tag",
    (page, { offset }) => (offset > 0 ? { ...page, tag: "c:d" } : page),
    2,
    "other_tag",
    /answered for tag "c:d" when asked for "a:b"/,
  ],
  [
    "a page like the one before it, because the service ignores the offset",
    (page) => ({ ...page, entries: many.slice(0, 10_000), total: 1_000_000 }),
    2,
    "page_repeated",
    /page at offset 10000 .* repeats the one before it/,
  ],
])("a list with %s fails its tag at once", async (_, bend, pages, code, message) => {
  const { server, run } = await exporterOf({ "a:b": served(many) }, bend);
  const report = await run();
  expect(report.tags[0]?.error?.code).toBe(code);
  expect(report.tags[0]?.error?.message).toMatch(message);
  expect(offsets(server)).toEqual([0, 10_000, 20_000].slice(0, pages));
});

test("an interrupted export changes nothing, and starts over when it is repeated", async () => {
  const stop = new AbortController();
  const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(many) };
  const { server, folder, run } = await exporterOf(lists, (page, { at }) => {
    if (at === 2) stop.abort(new Error("stopped"));
    return page;
  });
  const { signal } = stop;
  await expect(run({ signal, parallel: 1 })).rejects.toThrow("stopped");
  expect(await readdir(folder)).toEqual(["generations"]);
  expect(await run({ parallel: 1 })).toMatchObject({ exported: 2 });
  expect(offsets(server)).toEqual([0, 0, 10_000, 0, 0, 10_000, 20_000]);
  expect(await linesOf(folder, "c--d.txt")).toHaveLength(25_000);
});
