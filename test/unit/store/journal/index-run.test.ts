import { readdir, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { IndexRun } from "../../../../src/store/journal/index-run.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** A run of the hashes 7, 14, 21 …, each with its position as its number, written in pieces. */
async function runOf(count: number, piece: number): Promise<{ run: IndexRun; folder: string }> {
  const folder = await temporaryFolder();
  const run = new IndexRun(join(folder, "run"), count);
  const pairs = Uint32Array.from({ length: 2 * count }, (_, at) =>
    at % 2 === 0 ? 7 * (at / 2 + 1) : (at + 1) / 2,
  );
  for (let at = 0; at < count; at += piece) run.append(pairs.subarray(2 * at, 2 * (at + piece)));
  return { run, folder };
}

test.each([
  [1, 1],
  [255, 255],
  [256, 256],
  [257, 100],
  [3000, 4096],
  [3000, 77],
])(
  "finds each of %i pairs that were written %i at a time, and nothing else",
  async (count, piece) => {
    const { run } = await runOf(count, piece);
    const numbers = Array.from({ length: count }, (_, at) => run.find(7 * (at + 1)));
    expect(numbers).toEqual(Array.from({ length: count }, (_, at) => at + 1));
    const others = [0, 1, 6, 8, 7 * count - 1, 7 * count + 1, 2 ** 32 - 1];
    expect(others.map((hash) => run.find(hash))).toEqual(others.map(() => 0));
    run.remove();
  },
);

test("an empty run has nothing", async () => {
  const { run } = await runOf(0, 1);
  expect([run.size, run.find(0)]).toEqual([0, 0]);
  run.remove();
});

test("a file that became shorter is told, not taken for one that has less", async () => {
  const { run, folder } = await runOf(1000, 1000);
  await truncate(join(folder, "run"), 100);
  expect(() => run.find(7 * 500)).toThrow("shorter");
  expect(() => run.read(0, new Uint32Array(2000))).toThrow("shorter");
  run.remove();
});

test("its file goes with it, once", async () => {
  const { run, folder } = await runOf(10, 10);
  expect(await readdir(folder)).toEqual(["run"]);
  run.remove();
  run.remove();
  expect(await readdir(folder)).toEqual([]);
});
