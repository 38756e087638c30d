import { appendFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TailLog } from "../../../../src/lookup/journal/tail-log.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

function record(sequence: number): { sequence: number; bytes: Buffer } {
  return { sequence, bytes: Buffer.from(`record ${sequence}`) };
}

function sequencesIn(log: TailLog): number[] {
  return [...log.read()].map(({ sequence }) => sequence);
}

test("gives back what was appended, in order, over several files", async () => {
  const folder = await temporaryFolder();
  const log = new TailLog(folder);
  log.append([record(1), record(2)]);
  log.rotate();
  log.append([record(3)]);
  expect(sequencesIn(new TailLog(folder))).toEqual([1, 2, 3]);
});

test("a record that is cut off is passed over", async () => {
  const folder = await temporaryFolder();
  new TailLog(folder).append([record(1)]);
  const [name = ""] = await readdir(folder);
  await appendFile(join(folder, name), Buffer.from([9, 0, 0, 0, 1, 2, 3, 4, 2, 0, 0, 0, 7]));
  expect(sequencesIn(new TailLog(folder))).toEqual([1]);
});

test("a file goes when its records are safe elsewhere", async () => {
  const folder = await temporaryFolder();
  const log = new TailLog(folder);
  log.append([record(1)]);
  const drop = log.rotate();
  drop();
  expect(await readdir(folder)).toEqual([]);
});

test("a file that is being synced when a new one begins is synced all the same", async () => {
  const log = new TailLog(await temporaryFolder());
  for (let n = 1; n <= 50; n++) {
    log.append([record(n)]);
    const synced = [log.sync(), log.sync()];
    log.rotate();
    await expect(Promise.all(synced)).resolves.toBeDefined();
  }
});
