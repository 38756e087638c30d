import { readFile, rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { PageLog, type Pin } from "../../../src/tags/page-log.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const pin: Pin = {
  version: 2,
  source: "here",
  tag: "a:b",
  snapshot: "a".repeat(24),
  lastUpdate: "2024-01-01T00:00:00Z",
  total: 4,
  pinnedAt: "2024-01-01T00:00:00.000Z",
  about: { name: "a:b" },
};

const first = { v4: Uint32Array.of(3, 1), v6: Uint32Array.of(1, 2, 3, 4) };
const second = { v4: Uint32Array.of(2), v6: new Uint32Array(0) };

/** A folder with a log of both pages, as left by a killed process. */
async function aLog(): Promise<string> {
  const folder = join(await temporaryFolder(), "log");
  const log = await PageLog.begin(folder, pin);
  await log.append(first);
  await log.append(second);
  return folder;
}

async function resumed(folder: string): Promise<PageLog> {
  const log = await PageLog.resume(folder);
  if (log === null) throw new Error("there is nothing to resume");
  return log;
}

test("finds stored pages again", async () => {
  const log = await resumed(await aLog());
  expect([log.pages, log.entries, log.pin]).toEqual([2, 4, pin]);
  expect(await log.read()).toEqual({ v4: Uint32Array.of(3, 1, 2), v6: first.v6 });
});

test.each<[string, (path: string, length: number) => Promise<void>]>([
  ["cut off", (path, length) => truncate(path, length - 1)],
  ["empty, as a loss of power leaves it", (path) => truncate(path, 0)],
  ["one with another byte", (path, length) => flipByte(path, length - 20)],
  ["gone", (path) => rm(path)],
])("a last page that is %s counts as missing and is replaced", async (_, spoil) => {
  const folder = await aLog();
  const path = join(folder, "page-1.json");
  await spoil(path, (await readFile(path)).length);
  const log = await resumed(folder);
  expect([log.pages, log.entries]).toEqual([1, 3]);
  await log.append({ v4: Uint32Array.of(9), v6: new Uint32Array(0) });
  expect((await log.read()).v4).toEqual(Uint32Array.of(3, 1, 9));
});

test("a log with a truncated pin is invalid", async () => {
  const folder = await aLog();
  await writeFile(join(folder, "pin.json"), '{"version":2');
  expect(await PageLog.resume(folder)).toBe(null);
});

test("starting a log again removes its pages", async () => {
  const folder = await aLog();
  const log = await PageLog.begin(folder, { ...pin, total: 9 });
  expect([log.entries, log.resumed]).toEqual([0, false]);
});

async function flipByte(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at] = bytes[at]! ^ 1;
  await writeFile(path, bytes);
}
