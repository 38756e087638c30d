import { readdirSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { PlaceIndex } from "../../../../src/store/journal/place-index.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** So small that a few hundred entries go through everything that millions do. */
const small = { recentLimit: 16, filterBytes: 1 << 20 };

async function opened(options = small): Promise<{ index: PlaceIndex; folder: string }> {
  const folder = await temporaryFolder();
  const index = new PlaceIndex(folder, options);
  onTestFinished(() => index.close());
  return { index, folder };
}

test("has the last place of every hash, while its runs are merged and after", async () => {
  const hash = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.integer({ min: 0, max: 2 ** 32 - 1 }));
  const pauses = fc.integer({ min: 1, max: 50 });
  await fc.assert(
    fc.asyncProperty(
      fc.array(hash, { maxLength: 3000, size: "max" }),
      pauses,
      async (all, pause) => {
        const { index } = await opened();
        const model = new Map<number, number>();
        for (const [at, each] of all.entries()) {
          index.add(each, at + 1);
          model.set(each, at + 1);
          if (at % pause === 0) await turn();
        }
        for (const [each, place] of model) expect(index.find(each)).toBe(place);
        await index.close();
      },
    ),
    { numRuns: 30 },
  );
});

test("keeps the number of its files small", async () => {
  const { index, folder } = await opened();
  for (let n = 0; n < 16 * 8 * 8 + 5; n++) {
    index.add(n * 7919, n + 1);
    // One merge may follow another.
    if (n % 16 === 15) for (let turns = 0; turns < 20; turns++) await turn();
  }
  expect(await readdir(folder)).toHaveLength(1);
});

test("denies what was never added", async () => {
  const { index } = await opened();
  index.add(5, 1);
  expect([index.mayHave(5), index.mayHave(6), index.find(6)]).toEqual([true, false, 0]);
});

test("removes its files when it closes, also in the middle of merging", async () => {
  // More than is merged in one turn of the event loop.
  const { index, folder } = await opened({ ...small, recentLimit: 1024 });
  for (let n = 0; n < 1024 * 8; n++) index.add(n, n + 1);
  expect(readdirSync(folder)).toHaveLength(9);
  await index.close();
  expect(await readdir(folder)).toEqual([]);
});

test("removes what a killed process left, and nothing else", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "index-1"), "left");
  await writeFile(join(folder, "records"), "kept");
  const index = new PlaceIndex(folder, small);
  expect(await readdir(folder)).toEqual(["records"]);
  await index.close();
});

test("answers as before where a merge fails, and merges the next time", async () => {
  const { index, folder } = await opened();
  // The name of the run that the first merge would write.
  await writeFile(join(folder, "index-9"), "in the way");
  for (let n = 0; n < 16 * 8; n++) index.add(n, n + 1);
  for (let turns = 0; turns < 20; turns++) await turn();
  expect(Array.from({ length: 16 * 8 }, (_, n) => index.find(n))).toEqual(
    Array.from({ length: 16 * 8 }, (_, n) => n + 1),
  );
  for (let n = 16 * 8; n < 16 * 9; n++) index.add(n, n + 1);
  for (let turns = 0; turns < 20; turns++) await turn();
  expect((await readdir(folder)).sort()).toEqual(["index-10", "index-11", "index-9"]);
  expect(index.find(0)).toBe(1);
});
