import { rmdirSync } from "node:fs";
import { appendFile, readdir, readFile, truncate, utimes } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ExportState } from "../../../src/tags/export-state.js";
import type { ExportedTag } from "../../../src/tags/folder/export-index.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const hour = 3_600_000;

const published = { snapshot: "a".repeat(24), exported_at: "2024-01-01T00:00:00.000Z" };

async function open(
  folder: string,
  clock: ManualClock,
  more: { source?: string; restart?: boolean } = {},
): Promise<ExportState> {
  const options = { source: "http://one.example", restart: false, ...more };
  return ExportState.open(folder, { clock, ...options });
}

/** A folder with an export interrupted after the first page of `a:b`. */
async function interrupted(): Promise<{ folder: string; clock: ManualClock }> {
  const folder = await temporaryFolder();
  const clock = new ManualClock();
  const state = await open(folder, clock);
  const log = await state.begin({
    tag: "a:b",
    snapshot: published.snapshot,
    lastUpdate: "",
    total: 3,
    pinnedAt: new Date(clock.now()).toISOString(),
    about: { name: "a:b" },
  });
  await log.append(["192.0.2.1"]);
  await state.release();
  return { folder, clock };
}

test.each<[string, number, object, object | null, number]>([
  ["continues from pages", 0, {}, null, 1],
  ["discards pages that are too old", 6 * hour + 1, {}, null, 0],
  ["discards pages with a time far in the future", -6 * hour - 1, {}, null, 0],
  ["discards pages of another service", 0, { source: "http://two.example" }, null, 0],
  ["discards pages of a list that is already published", 0, {}, published, 0],
  ["discards pages with --restart", 0, { restart: true }, null, 0],
])("%s", async (_, ms, more, before, entries) => {
  const { folder, clock } = await interrupted();
  clock.jump(ms);
  const state = await open(folder, clock, more);
  onTestFinished(() => state.release());
  const log = await state.resume("a:b", before as ExportedTag | null);
  expect(log?.entries ?? 0).toBe(entries);
});

test.each<[string, (path: string, length: number) => Promise<void>, number | undefined]>([
  ["half a page is cut off", (path) => appendFile(path, '{"entries":["192.0'), 1],
  ["a damaged page counts as missing", (path, length) => truncate(path, length - 3), 0],
  ["a damaged beginning leaves nothing", (path) => truncate(path, 20), undefined],
])("after a kill, %s", async (_, spoil, entries) => {
  const { folder, clock } = await interrupted();
  const tags = join(folder, ".export.state", "tags");
  const path = join(tags, (await readdir(tags))[0]!);
  await spoil(path, (await readFile(path)).length);
  const state = await open(folder, clock);
  onTestFinished(() => state.release());
  const log = await state.resume("a:b", null);
  expect(log?.entries).toBe(entries);
  if (log === null) return;
  await log.append(["192.0.2.2"]);
  const again = await state.resume("a:b", null);
  expect((await again?.read())?.at(-1)).toBe("192.0.2.2");
});

test("keeps pages of tags that are not exported, for as long as they can be continued from", async () => {
  const { folder, clock } = await interrupted();
  const tags = join(folder, ".export.state", "tags");
  const pages = join(tags, (await readdir(tags))[0]!);
  for (const [age, left] of [
    [6 * hour, 1],
    [6 * hour + 1000, 0],
  ] as const) {
    const written = new Date(clock.now() - age);
    await utimes(pages, written, written);
    const state = await open(folder, clock);
    expect(await readdir(tags)).toHaveLength(left);
    await state.release();
  }
});

test("is opened even if an export that ends removes it at the same moment", async () => {
  const folder = await temporaryFolder();
  const opening = open(folder, new ManualClock());
  rmdirSync(join(folder, ".export.state"));
  await (await opening).release();
  expect(await readdir(folder)).toEqual([]);
});

test("refuses a second export to the same folder", async () => {
  const { folder, clock } = await interrupted();
  const state = await open(folder, clock);
  onTestFinished(() => state.release());
  await expect(open(folder, clock)).rejects.toMatchObject({ code: "output_locked" });
});

test("removes a state with nothing left to do", async () => {
  const { folder, clock } = await interrupted();
  const state = await open(folder, clock);
  await state.forget("a:b");
  await state.release();
  expect(await readdir(folder)).toEqual([]);
});
