import { chmod, mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { open } from "lmdb";
import { describe, expect, onTestFinished, test } from "vitest";
import { openCache } from "../../../../src/lookup/cache/finding-cache.js";
import type { FindingStore } from "../../../../src/lookup/store.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete, invalid, partial } from "../findings.js";

const hour = 3_600_000;
const day = 24 * hour;
const { again: _, ...lacking } = partial({ asn: null }, ["asn"]);
const bogon = complete({ type: "IP_BOGON", bogon: true });

interface Opened {
  readonly cache: FindingStore;
  readonly warnings: string[];
}

async function openIn(
  folder: string,
  { clock = new ManualClock(), ttlMs = day, mappedLimit }: Partial<OpenOptions> = {},
): Promise<Opened> {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  const cache = await openCache({ folder, ttlMs, clock, onWarning, mappedLimit });
  onTestFinished(() => cache.close());
  return { cache, warnings };
}

interface OpenOptions {
  readonly clock: ManualClock;
  readonly ttlMs: number;
  readonly mappedLimit: number;
}

/** Puts findings, waits until they are written, and closes. */
async function filled(folder: string, clock = new ManualClock(), entries = 1): Promise<void> {
  const { cache } = await openIn(folder, { clock });
  const put = Array.from({ length: entries }, (_, n) => cache.put(`key ${n}`, complete({ n })));
  await cache.sync();
  await Promise.all(put);
  await cache.close();
}

async function newFolder(): Promise<string> {
  return join(await temporaryFolder(), "cache");
}

const dataFile = (folder: string): string => join(folder, "findings", "entries", "data.mdb");

test("what was put is there for the next run", async () => {
  const folder = await newFolder();
  await filled(folder);
  const { cache, warnings } = await openIn(folder);
  expect([await cache.get("key 0"), warnings]).toEqual([complete({ n: 0 }), []]);
});

test("what one has written another one that is open finds", async () => {
  const folder = await newFolder();
  const [one, other] = [await openIn(folder), await openIn(folder)];
  const put = one.cache.put("key", complete());
  await one.cache.sync();
  await put;
  expect(await other.cache.get("key")).toEqual(complete());
});

describe("answers are used for as long as their kind may be", () => {
  test.each([
    ["full", complete(), day],
    ["invalid", invalid(), day],
    ["partial", lacking, hour],
    ["bogon", bogon, 30 * day],
  ] as const)("%s", async (_kind, finding, life) => {
    const clock = new ManualClock();
    const { cache } = await openIn(await newFolder(), { clock });
    void cache.put("key", finding);
    await cache.sync();
    clock.jump(life - 1);
    expect(await cache.get("key")).toEqual(finding);
    clock.jump(1);
    expect(await cache.get("key")).toBeNull();
  });
});

test("the one who reads says how long answers are used", async () => {
  const folder = await newFolder();
  const clock = new ManualClock();
  await filled(folder, clock);
  clock.jump(2 * hour);
  const [short, long] = [
    await openIn(folder, { clock, ttlMs: hour }),
    await openIn(folder, { clock, ttlMs: 3 * hour }),
  ];
  expect([await short.cache.get("key 0"), await long.cache.get("key 0")]).toEqual([
    null,
    complete({ n: 0 }),
  ]);
});

describe("when the clock went back", () => {
  test("an answer of the future lasts no longer than it may from then on", async () => {
    const folder = await newFolder();
    const clock = new ManualClock();
    await filled(folder, clock);
    clock.jump(-20 * hour);
    const { cache } = await openIn(folder, { clock });
    expect(await cache.get("key 0")).not.toBeNull();
    await cache.sync();
    clock.jump(day - 1);
    expect(await cache.get("key 0")).not.toBeNull();
    clock.jump(1);
    expect(await cache.get("key 0")).toBeNull();
  });

  test("an answer from far ahead is not used", async () => {
    const folder = await newFolder();
    const clock = new ManualClock();
    await filled(folder, clock);
    clock.jump(-365 * day);
    const { cache } = await openIn(folder, { clock });
    expect(await cache.get("key 0")).toBeNull();
  });
});

test("its folder and files are its owner's alone", async () => {
  const folder = await newFolder();
  await filled(folder);
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const modes = await Promise.all(
    names.map(async (entry) => {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      return entry.isDirectory() ? (mode & 0o777) === 0o700 : (mode & 0o777) === 0o600;
    }),
  );
  expect([(await stat(folder)).mode & 0o777, modes.length, modes.every(Boolean)]).toEqual([
    0o700,
    8,
    true,
  ]);
});

test("a folder that was there keeps its mode", async () => {
  const folder = await newFolder();
  await mkdir(folder);
  await chmod(folder, 0o755);
  await filled(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
});

test("mapping its files anew loses nothing", async () => {
  const folder = await newFolder();
  await filled(folder, new ManualClock(), 3000);
  const { cache, warnings } = await openIn(folder, { mappedLimit: 0 });
  for (let n = 0; n < 3000; n++) {
    expect((await cache.get(`key ${n}`))?.query?.["n"]).toBe(n);
    if (n % 300 === 0) void cache.put(`new ${n}`, complete({ n }));
  }
  await cache.sync();
  expect([(await cache.get("new 2700"))?.query?.["n"], warnings]).toEqual([2700, []]);
});

describe("a cache that is damaged is not used, and says so", () => {
  async function expectUnused(folder: string, reason: RegExp): Promise<void> {
    const { cache, warnings } = await openIn(folder);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(reason);
    expect(warnings[0]).toMatch(/; the run goes on without it$/);
    await cache.put("key", complete());
    await cache.sync();
    expect(await cache.get("key")).toBeNull();
  }

  test("cut off", async () => {
    const folder = await newFolder();
    await filled(folder, new ManualClock(), 500);
    const { size } = await stat(dataFile(folder));
    await truncate(dataFile(folder), size / 2);
    await expectUnused(folder, /is damaged: it ends too early; remove it with repute cache clear/);
  });

  test("cut off to nothing but its first page", async () => {
    const folder = await newFolder();
    await filled(folder);
    await truncate(dataFile(folder), 4096);
    await expectUnused(folder, /is damaged/);
  });

  test("its pages overwritten", async () => {
    const folder = await newFolder();
    await filled(folder, new ManualClock(), 500);
    const bytes = await readFile(dataFile(folder));
    for (let at = 8192; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 64);
    await writeFile(dataFile(folder), bytes);
    await expectUnused(folder, /is damaged/);
  });

  test("replaced by something else", async () => {
    const folder = await newFolder();
    await filled(folder);
    await writeFile(dataFile(folder), "nothing of the kind\n".repeat(1000));
    await expectUnused(folder, /is damaged: it is no store/);
  });

  test("a file where its folder should be", async () => {
    const folder = await newFolder();
    await writeFile(folder, "");
    await expectUnused(folder, /^cannot open the cache .*: (it is no folder|a part of the path)/);
  });

  test("a folder that cannot be made", async () => {
    await expectUnused("/proc/self/cache", /^cannot open the cache \/proc\/self\/cache: /);
  });
});

test("an entry whose bytes have changed is asked for again, and said once", async () => {
  const folder = await newFolder();
  await filled(folder, new ManualClock(), 20);
  const bytes = await readFile(dataFile(folder));
  for (const n of [3, 4]) {
    // Of an entry that was put once there is one copy in the file.
    const at = bytes.indexOf(`["key ${n}"`);
    bytes[at + 20]! ^= 0x01;
  }
  await writeFile(dataFile(folder), bytes);
  const { cache, warnings } = await openIn(folder);
  const found = await Promise.all([2, 3, 4, 5].map((n) => cache.get(`key ${n}`)));
  expect(found.map((finding) => finding !== null)).toEqual([true, false, false, true]);
  expect(warnings).toEqual([expect.stringMatching(/entries of the cache .* are damaged/)]);
});

test("a cache of another version is begun anew, and says so", async () => {
  const folder = await newFolder();
  await filled(folder);
  const root = open({ path: dirname(dataFile(folder)), noSubdir: false, maxDbs: 2 });
  root.openDB<number, string>({ name: "about", encoding: "json" }).putSync("format", 0);
  await root.close();
  const first = await openIn(folder);
  expect(await first.cache.get("key 0")).toBeNull();
  expect(first.warnings).toEqual([expect.stringMatching(/another version .* begun anew$/)]);
  await first.cache.close();
  await filled(folder);
  const second = await openIn(folder);
  expect([await second.cache.get("key 0"), second.warnings]).toEqual([complete({ n: 0 }), []]);
});

test("a cache that was not closed is used when it is sound", async () => {
  const folder = await newFolder();
  await filled(folder);
  await writeFile(join(folder, "findings", "closed"), "killed before it could be written");
  const { cache, warnings } = await openIn(folder);
  expect([await cache.get("key 0"), warnings]).toEqual([complete({ n: 0 }), []]);
});

test("a newer answer takes the place of an older one", async () => {
  const folder = await newFolder();
  for (const n of [1, 2, 3]) {
    const { cache } = await openIn(folder);
    void cache.put("key", complete({ n }));
    await cache.close();
  }
  const { cache } = await openIn(folder);
  expect((await cache.get("key"))?.query?.["n"]).toBe(3);
});
