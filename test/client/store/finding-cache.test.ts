import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, cp, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { openCache } from "../../../src/client/store/cache.js";
import type { Finding } from "../../../src/core/finding.js";
import { ManualClock } from "../../helpers/manual-clock.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete, invalid, partial } from "../lookup/findings.js";

const hour = 3_600_000;
const day = 24 * hour;
const lacking = partial({ asn: null }, ["asn"]);

async function openIn(
  folder: string,
  { clock = new ManualClock(), ttlMs = day, readOnly = false } = {},
) {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  const cache = await openCache({ folder, ttlMs, clock, onWarning, readOnly });
  onTestFinished(() => cache.close());
  return { cache, warnings };
}

/** Stores findings, waits for the writes and closes. */
async function store(folder: string, clock: ManualClock, findings: readonly Finding[]) {
  const { cache } = await openIn(folder, { clock });
  for (const [n, finding] of findings.entries()) cache.put(`query key ${n}`, finding);
  cache.close();
}

/** Stores full answers. */
const filled = (folder: string, clock = new ManualClock(), entries = 1): Promise<void> =>
  store(
    folder,
    clock,
    Array.from({ length: entries }, (_, n) => complete({ n })),
  );

async function newFolder(): Promise<string> {
  return join(await temporaryFolder(), "cache");
}

const dataFile = (folder: string): string => join(folder, "answers", "answers.db");

describe("expired answers are deleted when a run opens the cache", () => {
  const start = async () => ({ folder: await newFolder(), clock: new ManualClock() });

  /** Opens the cache as a run does. */
  const open = async (folder: string, clock: ManualClock, ttlMs = day) =>
    (await openIn(folder, { clock, ttlMs })).cache.close();

  /** The numbers of the answers in the file, fresh or not. */
  async function kept(folder: string, clock: ManualClock): Promise<readonly number[]> {
    const options = { clock, ttlMs: 10_000 * day, readOnly: true };
    const { cache, warnings } = await openIn(folder, options);
    const found = [0, 1, 2].filter((n) => cache.get(`query key ${n}`) !== null);
    expect(warnings).toEqual([]);
    return found;
  }

  test("at most once a day", async () => {
    const { folder, clock } = await start();
    await store(folder, clock, [complete(), lacking, invalid()]);
    clock.jump(day - 1);
    await open(folder, clock);
    expect(await kept(folder, clock)).toEqual([0, 1, 2]);
    clock.jump(1);
    await open(folder, clock);
    expect(await kept(folder, clock)).toEqual([]);
  });

  test.each([
    ["not those that are fresh", day - 1, [0, 1, 2]],
    ["those from a clock that was far ahead, too", -day, []],
  ])("%s", async (_, age, left) => {
    const { folder, clock } = await start();
    await store(folder, clock, [complete(), lacking, invalid()]);
    clock.jump(age);
    const database = new DatabaseSync(dataFile(folder));
    database.exec("DELETE FROM facts");
    database.close();
    await open(folder, clock);
    expect(await kept(folder, clock)).toEqual(left);
  });

  test("not what a run with a longer lifetime would use that day", async () => {
    const { folder, clock } = await start();
    await store(folder, clock, [complete()]);
    await open(folder, clock, 7 * day);
    clock.jump(2 * day);
    await open(folder, clock, hour);
    expect(await kept(folder, clock)).toEqual([0]);
    clock.jump(day);
    await open(folder, clock, hour);
    expect(await kept(folder, clock)).toEqual([]);
  });

  test("of any number, in several transactions", async () => {
    const { folder, clock } = await start();
    await filled(folder, clock, 12_000);
    clock.jump(day);
    await open(folder, clock);
    const database = new DatabaseSync(dataFile(folder), { readOnly: true });
    expect(database.prepare("SELECT count(*) rows FROM answers").get()).toEqual({ rows: 0 });
    database.close();
  });
});

test("folder and files are private to the owner; an existing folder keeps its mode", async () => {
  const folder = await newFolder();
  await filled(folder);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const modes = names.map(async (entry) => {
    const { mode } = await stat(join(entry.parentPath, entry.name));
    return (mode & 0o777) === (entry.isDirectory() ? 0o700 : 0o600);
  });
  // SQLite's log is gone once the garbage collector has freed the statements.
  expect(names.map(({ name }) => name)).toContain("answers.db");
  expect(await Promise.all(modes)).not.toContain(false);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  await chmod(folder, 0o755);
  await filled(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

/** Makes a cache with 500 answers, and damages its file. */
const ruins: readonly (readonly [how: string, ruin: (path: string) => Promise<unknown>])[] = [
  ["truncated", async (path) => truncate(path, (await stat(path)).size / 2)],
  ["replaced by another file", (path) => writeFile(path, "nothing of the kind\n".repeat(1000))],
  [
    "with an answer that was changed",
    async (path) => {
      const bytes = await readFile(path);
      for (let at = 0; (at = bytes.indexOf('["query key 3"', at) + 20) >= 20;) bytes[at]! ^= 0x01;
      await writeFile(path, bytes);
    },
  ],
];

test.each(ruins)("a damaged cache costs one warning and is set aside: %s", async (_how, ruin) => {
  const folder = await newFolder();
  await filled(folder, new ManualClock(), 500);
  await ruin(dataFile(folder));
  for (const [readOnly, remedy] of [
    [true, `delete the folder ${folder}/answers`],
    [false, "set aside as answers.damaged"],
  ] as const) {
    // Two runs, of which the second finds what the first has set aside.
    const runs = [await openIn(folder, { readOnly }), await openIn(folder, { readOnly })];
    for (const { cache, warnings } of runs) {
      // Its first read may be what notices it.
      expect([cache.get("query key 3"), cache.get("query key 3")]).toEqual([null, null]);
      cache.put("query key", complete());
      cache.sync();
      expect(warnings.length).toBeLessThanOrEqual(1);
    }
    expect(runs[0]!.warnings).toEqual([
      expect.stringMatching(new RegExp(`is damaged: .*; ${remedy}; the run continues without`)),
    ]);
  }
  await filled(folder);
  const { cache, warnings } = await openIn(folder);
  expect([cache.get("query key 0") === null, warnings]).toEqual([false, []]);
  expect(await readdir(folder)).toEqual(["answers", "answers.damaged"]);
});

test("a file in place of its folder costs one warning", async () => {
  const folder = await newFolder();
  await writeFile(folder, "");
  const { cache, warnings } = await openIn(folder);
  cache.put("query key", complete());
  cache.sync();
  expect([cache.get("query key"), warnings]).toEqual([
    null,
    [expect.stringMatching(/^cannot open the cache .*: part of the path is not a folder; the run/)],
  ]);
});

test.each([false, true])(
  "a cache of another version stays unused (read-only: %s)",
  async (readOnly) => {
    const [first, folder] = [await newFolder(), await newFolder()];
    await filled(first);
    // A copy, because the driver gives up a file only at some later time.
    await cp(first, folder, { recursive: true });
    const database = new DatabaseSync(dataFile(folder));
    database.exec("PRAGMA user_version = 99");
    database.close();
    const before = await readFile(dataFile(folder));
    const { cache, warnings } = await openIn(folder, { readOnly });
    cache.put("query new", complete());
    cache.close();
    expect(cache.get("query key 0")).toBeNull();
    expect(warnings).toEqual([
      `another version of repute wrote the cache ${folder}; delete the folder ${folder}/answers; the run continues without the cache`,
    ]);
    expect(await readFile(dataFile(folder))).toEqual(before);
  },
);

test("writes wait until another process has finished", async () => {
  const folder = await newFolder();
  await filled(folder);
  const lock = `
    const { DatabaseSync } = require("@photostructure/sqlite");
    const database = new DatabaseSync(process.argv[1]);
    database.exec("BEGIN IMMEDIATE");
    console.log("locked");
    setTimeout(() => database.exec("COMMIT"), 500);`;
  const { cache, warnings } = await openIn(folder);
  const other = spawn(process.execPath, ["-e", lock, dataFile(folder)]);
  await once(other.stdout, "data");
  cache.put("query new", complete());
  expect(cache.get("query key 0")).toEqual(complete({ n: 0 }));
  const before = performance.now();
  cache.sync();
  expect(performance.now() - before).toBeGreaterThan(200);
  expect([cache.get("query new"), warnings]).toEqual([complete(), []]);
});

test("when read-only, it answers but stores nothing, and isn't created", async () => {
  const folder = await newFolder();
  const none = await openIn(folder, { readOnly: true });
  expect([none.cache.get("query key"), none.warnings]).toEqual([null, []]);
  await expect(stat(folder)).rejects.toThrow("ENOENT");
  await filled(folder);
  const { cache, warnings } = await openIn(folder, { readOnly: true });
  cache.put("query new", complete());
  cache.sync();
  expect([cache.get("query key 0"), cache.get("query new"), warnings]).toEqual([
    complete({ n: 0 }),
    null,
    [],
  ]);
});
