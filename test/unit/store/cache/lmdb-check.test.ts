import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { open } from "lmdb";
import { describe, expect, test } from "vitest";
import { checkLmdbFile } from "../../../../src/store/cache/lmdb-check.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const pageSize = 4096;

/** What is put and removed in one transaction: numbers of keys, below 0 for removing. */
type Changes = readonly number[];

/** Writes transactions to a new LMDB file as the cache does, and returns the file's path. */
async function written(transactions: readonly Changes[], valueBytes: number): Promise<string> {
  const folder = join(await temporaryFolder(), "store");
  const root = open({ path: folder, noSubdir: false, maxDbs: 2 });
  const bytes = { encoding: "binary", keyEncoding: "binary" } as const;
  const entries = root.openDB<Buffer, Buffer>({ name: "entries", ...bytes });
  for (const changes of transactions) {
    let done: Promise<boolean> = Promise.resolve(true);
    for (const change of changes) {
      const key = Buffer.alloc(8);
      key.writeUInt32BE(Math.imul(Math.abs(change), 0x9e3779b1) >>> 0);
      done =
        change < 0
          ? entries.remove(key)
          : entries.put(key, Buffer.alloc(change % 40 === 0 ? 9000 : valueBytes, change));
    }
    await done;
  }
  await root.flushed;
  await root.close();
  return join(folder, "data.mdb");
}

const many = [...Array(20).keys()].map((n) => [...Array(60).keys()].map((m) => n * 60 + m + 1));

test("what LMDB writes is sound, whatever was put and removed", async () => {
  const transaction = fc.array(fc.integer({ min: -300, max: 300 }), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(transaction, { maxLength: 25 }),
      fc.integer({ min: 1, max: 3000 }),
      async (transactions, valueBytes) => {
        const path = await written(transactions, valueBytes);
        expect(await checkLmdbFile(path)).toEqual({ state: "sound" });
      },
    ),
    { numRuns: 15 },
  );
});

test("a file that was cut off is damaged, wherever that was", async () => {
  const path = await written(many, 500);
  const whole = await readFile(path);
  for (let pages = 0; pages < whole.length / pageSize; pages += 7) {
    await writeFile(path, whole);
    await truncate(path, pages * pageSize + 100);
    expect(await checkLmdbFile(path)).toMatchObject({ state: "damaged" });
  }
});

test("a file that is something else is damaged", async () => {
  const path = join(await temporaryFolder(), "data.mdb");
  await writeFile(path, "a,b\n1,2\n".repeat(5000));
  expect(await checkLmdbFile(path)).toEqual({ state: "damaged", damage: "it is no store" });
});

test("a file of another version of LMDB is told apart", async () => {
  const path = await written([[1]], 10);
  const bytes = await readFile(path);
  bytes.writeUInt32LE(1, 28);
  await writeFile(path, bytes);
  expect(await checkLmdbFile(path)).toEqual({ state: "another version" });
});

/** Pages that a snapshot reaches: of others it does not matter what they hold. */
describe("a changed byte is noticed", () => {
  test.each([
    ["in the number of a page", 0],
    ["in the transaction of a page", 13],
    ["in the kind of a page", 18],
    ["in the number of a page's entries", 21],
    ["in where a page's entries begin", 23],
    ["in the place of an entry", 25],
  ])("%s", async (_where, offset) => {
    const path = await written(many, 500);
    const whole = await readFile(path);
    let noticed = 0;
    let used = 0;
    for (let page = 2; page < whole.length / pageSize; page++) {
      const at = page * pageSize;
      const kind = whole.readUInt16LE(at + 18);
      if (kind !== 1 && kind !== 2) continue;
      const changed = Buffer.from(whole);
      changed[at + offset]! ^= 0x40;
      await writeFile(path, changed);
      used++;
      if ((await checkLmdbFile(path)).state === "damaged") noticed++;
      if (used === 40) break;
    }
    // A page that is free now may look like any other.
    expect(noticed).toBeGreaterThan(used / 2);
  });

  test("in what leads to the trees", async () => {
    const path = await written(many, 500);
    const whole = await readFile(path);
    const snapshot = whole.readUInt32LE(152) > whole.readUInt32LE(pageSize + 152) ? 0 : pageSize;
    // Page size, flags, depth and root of both trees, last page.
    for (const at of [24, 28, 30, 64, 76, 78, 112, 122]) {
      const changed = Buffer.from(whole);
      changed[snapshot + 24 + at]! ^= 0x04;
      await writeFile(path, changed);
      expect([at, (await checkLmdbFile(path)).state]).toEqual([at, "damaged"]);
    }
  });
});

test("whatever is changed, the check comes to an end", async () => {
  const path = await written(many, 500);
  const whole = await readFile(path);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 50 }),
      async (changes) => {
        const changed = Buffer.from(whole);
        for (const [at, value] of changes) changed[at] = value;
        await writeFile(path, changed);
        expect(["sound", "damaged", "another version"]).toContain(
          (await checkLmdbFile(path)).state,
        );
      },
    ),
    { numRuns: 60 },
  );
});
