import { readdir } from "node:fs/promises";
import { describe, expect, it, test } from "vitest";
import { exportedTag, exporterOf, linesOf } from "./exporting.js";
import { addresses, type Bend, failure, served, type TagServer } from "./tag-server.js";

/** Entries for three pages. */
const many = addresses(25_000);

function offsets(server: TagServer): number[] {
  return server.pages.map(({ offset }) => offset);
}

const drifts: [string, Bend][] = [
  ["snapshot", (page) => ({ ...page, snapshot: "z".repeat(24) })],
  ["lastUpdate", (page) => ({ ...page, lastUpdate: "2025-01-01T00:00:00Z" })],
  ["total", (page) => ({ ...page, total: page.total + 1 })],
  ["refused", () => failure("snapshot has expired")],
];

describe.each(drifts)("a list that changes while being read: %s", (what, bend) => {
  it("fails when the list changes three more times", async () => {
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

describe("an invalid list fails its tag at once", () => {
  const cases: [string, Bend, string, RegExp][] = [
    [
      "an entry twice, over two pages",
      (page, { offset }) =>
        offset === 10_000 ? { ...page, entries: [many[0]!, ...page.entries.slice(1)] } : page,
      "count_mismatch",
      /24,999 distinct addresses, but its reported total is 25,000; it has 1 duplicate entry/,
    ],
    [
      "an entry twice, spelt in two ways",
      (page, { offset }) =>
        offset === 0
          ? { ...page, entries: ["2001:db8::1", "2001:DB8:0::1", ...page.entries.slice(2)] }
          : page,
      "count_mismatch",
      /24,999 distinct/,
    ],
    [
      "a page that is empty before the end",
      (page, { offset }) => (offset > 0 ? { ...page, entries: [] } : page),
      "count_mismatch",
      /has 10,000 distinct addresses, but its reported total is 25,000$/,
    ],
    [
      "more entries than its total",
      (page) => ({ ...page, total: 9_999 }),
      "count_mismatch",
      /10,000 distinct addresses, but its reported total is 9,999/,
    ],
    [
      "an entry that is no address",
      (page, { offset }) =>
        offset === 10_000 ? { ...page, entries: [...page.entries.slice(1), "192.0.2.0/24"] } : page,
      "invalid_entry",
      /entry 20000 of the list of tag a:b is "192\.0\.2\.0\/24", which is not an IP address/,
    ],
    [
      "a page of another tag",
      (page, { offset }) => (offset > 0 ? { ...page, tag: "c:d" } : page),
      "other_tag",
      /answered for tag "c:d" when asked for "a:b"/,
    ],
  ];

  test.each(cases)("%s", async (_, bend, code, message) => {
    const { server, run } = await exporterOf({ "a:b": served(many) }, bend);
    const report = await run();
    expect(report.tags[0]?.error?.code).toBe(code);
    expect(report.tags[0]?.error?.message).toMatch(message);
    expect(server.pages.filter(({ offset }) => offset === 0)).toHaveLength(1);
  });
});

test("a service that ignores the offset is detected at its second page", async () => {
  const { server, run } = await exporterOf({ "a:b": served(many) }, (page) => ({
    ...page,
    entries: many.slice(0, 10_000),
    total: 1_000_000,
  }));
  const report = await run();
  expect(report.tags[0]?.error).toEqual({
    code: "page_repeated",
    message: expect.stringMatching(/page at offset 10000 .* repeats the one before it/) as string,
  });
  expect(offsets(server)).toEqual([0, 10_000]);
});

describe("an interrupted export", () => {
  /** Aborts at the request for this page. */
  function abortAt(at: number): { bend: Bend; signal: AbortSignal } {
    const stop = new AbortController();
    const bend: Bend = (page, request) => {
      if (request.at === at) stop.abort(new Error("stopped"));
      return page;
    };
    return { bend, signal: stop.signal };
  }

  it("changes nothing, and starts over when it is repeated", async () => {
    const { bend, signal } = abortAt(2);
    const lists = { "a:b": served(["192.0.2.1"]), "c:d": served(many) };
    const { server, folder, run } = await exporterOf(lists, bend);
    await expect(run({ signal, parallel: 1 })).rejects.toThrow("stopped");
    expect(await readdir(folder)).toEqual(["generations"]);
    expect(await run({ parallel: 1 })).toMatchObject({ exported: 2 });
    expect(offsets(server)).toEqual([0, 0, 10_000, 0, 0, 10_000, 20_000]);
    expect(await linesOf(folder, "c--d.txt")).toHaveLength(25_000);
  });
});
