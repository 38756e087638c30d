import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { IndexRun } from "../../../../src/store/journal/index-run.js";
import { mergeRuns } from "../../../../src/store/journal/merge-runs.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

function sorted(pairs: ReadonlyMap<number, number>): Uint32Array {
  return Uint32Array.from([...pairs].sort(([a], [b]) => a - b).flat());
}

function runOf(path: string, pairs: ReadonlyMap<number, number>): IndexRun {
  const run = new IndexRun(path, pairs.size);
  run.append(sorted(pairs));
  return run;
}

/** Later maps win. */
function union(maps: readonly ReadonlyMap<number, number>[]): Map<number, number> {
  const all = new Map<number, number>();
  for (const map of maps) for (const [hash, number] of map) all.set(hash, number);
  return all;
}

function allOf(run: IndexRun): Uint32Array {
  const pairs = new Uint32Array(2 * run.size);
  run.read(0, pairs);
  return pairs;
}

const unending = new AbortController().signal;

test("has the last number of every hash that any of the runs has", async () => {
  const folder = await temporaryFolder();
  const hash = fc.oneof(
    fc.integer({ min: 0, max: 20 }),
    fc.integer({ min: 2 ** 32 - 20, max: 2 ** 32 - 1 }),
  );
  const map = fc.array(fc.tuple(hash, fc.integer({ min: 1, max: 1000 })));
  let made = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(map, { minLength: 1, maxLength: 8 }), async (lists) => {
      const maps = lists.map((list) => new Map(list));
      const runs = maps.map((pairs) => runOf(join(folder, `${++made}`), pairs));
      const into = new IndexRun(join(folder, `${++made}`), lists.flat().length);
      await mergeRuns(runs, into, unending);
      expect(allOf(into)).toEqual(sorted(union(maps)));
      for (const run of [...runs, into]) run.remove();
    }),
  );
});

test("runs that are longer than what is read at once", async () => {
  const folder = await temporaryFolder();
  const maps = [0, 1, 2].map(
    (n) => new Map(Array.from({ length: 10_000 }, (_, at) => [n + at * (n + 1), n + 1])),
  );
  const runs = maps.map((pairs, n) => runOf(join(folder, `${n}`), pairs));
  const into = new IndexRun(join(folder, "into"), 30_000);
  await mergeRuns(runs, into, unending);
  expect(allOf(into)).toEqual(sorted(union(maps)));
  for (const run of [...runs, into]) run.remove();
});

test("ends early when it is told to", async () => {
  const folder = await temporaryFolder();
  const pairs = new Map(Array.from({ length: 10_000 }, (_, at) => [at, 1]));
  const runs = [runOf(join(folder, "0"), pairs), runOf(join(folder, "1"), pairs)];
  const into = new IndexRun(join(folder, "into"), 20_000);
  const reason = new Error("enough");
  await expect(mergeRuns(runs, into, AbortSignal.abort(reason))).rejects.toBe(reason);
  for (const run of [...runs, into]) run.remove();
});
