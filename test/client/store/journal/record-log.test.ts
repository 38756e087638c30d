import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  decodeRecord,
  type RecordHead,
  recordParts,
} from "../../../../src/client/store/finding-record.js";
import { RecordLog } from "../../../../src/client/store/journal/record-log.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../../lookup/attempts.js";

const head: RecordHead = { previous: 0, hash: 1 };

function opened(folder: string): RecordLog {
  const log = new RecordLog(folder);
  onTestFinished(() => {
    try {
      log.close();
    } catch {
      // Already closed by the test.
    }
  });
  return log;
}

function add(log: RecordLog, key: string, text = ""): number {
  return log.add(head, recordParts(key, complete({ text })));
}

function keyAt(log: RecordLog, offset: number): string | null {
  const record = log.at(offset);
  return record === undefined ? null : decodeRecord(record).key;
}

type Gap = readonly [from: number | undefined, to: number | undefined];

/** Keys of the records of earlier sessions, with `durable` bytes expected. */
async function taken(log: RecordLog, gaps: Gap[] = [], durable = 0): Promise<string[]> {
  const keys: string[] = [];
  const onGap = (...gap: Gap): unknown => gaps.push(gap);
  for await (const records of log.replay(durable, onGap)) {
    for (const { record } of records) keys.push(decodeRecord(record).key);
  }
  return keys;
}

/** A file with a session's findings. Returns the byte offset of each. */
async function written(
  folder: string,
  findings: readonly (readonly [key: string, length: number])[],
): Promise<{ readonly path: string; readonly starts: readonly number[] }> {
  const log = opened(folder);
  const starts = findings.map(([key, length]) => 32 * add(log, key, "x".repeat(length)));
  log.write();
  log.close();
  return { path: join(folder, "records"), starts };
}

test("finds every record at its offset, before and after it is written", async () => {
  const log = opened(await temporaryFolder());
  const lengths = [10, 300_000, 0, 4096, 5_000_000, 1, 64_000];
  const places = lengths.map((length, n) => add(log, `key ${n}`, "x".repeat(length)));
  const keys = lengths.map((_, n) => `key ${n}`);
  expect(places.map((offset) => keyAt(log, offset))).toEqual(keys);
  expect(log.pendingBytes).toBeGreaterThan(5_000_000);
  log.write();
  expect(log.pendingBytes).toBe(0);
  expect(places.map((offset) => keyAt(log, offset))).toEqual(keys);
});

test("the next session replays the file and appends to it", async () => {
  const folder = await temporaryFolder();
  await written(folder, [
    ["a", 5],
    ["b", 3_000_000],
    ["c", 0],
  ]);
  const log = opened(folder);
  expect(await taken(log)).toEqual(["a", "b", "c"]);
  add(log, "d");
  log.write();
  log.close();
  expect(await taken(opened(folder))).toEqual(["a", "b", "c", "d"]);
});

test.each([
  ["cut off in its text", (at: number) => at + 40],
  ["cut off in its length", (at: number) => at + 2],
  ["missing", (at: number) => at],
])("a last record that is %s is cut away", async (_, cut) => {
  const folder = await temporaryFolder();
  const { path, starts } = await written(folder, [
    ["a", 100],
    ["b", 100],
  ]);
  await truncate(path, cut(starts[1] ?? 0));
  const log = opened(folder);
  expect(await taken(log)).toEqual(["a"]);
  expect((await stat(path)).size).toBe(starts[1]);
  expect(keyAt(log, add(log, "c"))).toBe("c");
});

test.each([
  ["zeros", Buffer.alloc(5000)],
  ["junk", Buffer.from("\u0008".repeat(4999), "latin1")],
  ["a length of four thousand million", Buffer.alloc(4096, 0xff)],
])("%s at the end are cut away", async (_, junk) => {
  const folder = await temporaryFolder();
  const { path } = await written(folder, [["a", 100]]);
  const { size } = await stat(path);
  await appendFile(path, junk);
  expect(await taken(opened(folder))).toEqual(["a"]);
  expect((await stat(path)).size).toBe(size);
});

test.each([0, 4, 8, 20])("a record with damaged byte %i is skipped", async (byte) => {
  const folder = await temporaryFolder();
  const { path, starts } = await written(folder, [
    ["a", 100],
    ["b", 100],
    ["c", 2_000_000],
  ]);
  const bytes = await readFile(path);
  const at = (starts[1] ?? 0) + byte;
  bytes[at] = (bytes[at] ?? 0) ^ 0x11;
  await writeFile(path, bytes);
  const log = opened(folder);
  const gaps: Gap[] = [];
  expect(await taken(log, gaps)).toEqual(["a", "c"]);
  expect(gaps).toEqual([[starts[1], starts[2]]]);
  expect(keyAt(log, (starts[1] ?? 0) / 32)).toBeNull();
  expect((await stat(path)).size).toBe(bytes.length);
});

test.each([
  ["that another version wrote", "repute journal 99\n", "journal_format"],
  ["whose first line is gone", "", "journal_damaged"],
])("a file %s is refused", async (_, line, code) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "records"), line.padEnd(64, "\0"));
  expect(() => new RecordLog(folder)).toThrow(expect.objectContaining({ code }));
});

test("an incomplete first line is rewritten", async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "records"), "repute jou");
  const log = opened(folder);
  expect(await taken(log)).toEqual([]);
  add(log, "a");
  log.write();
  await log.sync();
  log.close();
  expect(await taken(opened(folder))).toEqual(["a"]);
});

test("a truncation into durable bytes is reported", async () => {
  const folder = await temporaryFolder();
  const { path, starts } = await written(folder, [
    ["a", 100],
    ["b", 100],
    ["c", 100],
  ]);
  await truncate(path, (starts[1] ?? 0) + 40);
  const [normal, lost]: [Gap[], Gap[]] = [[], []];
  expect(await taken(opened(folder), normal, starts[1])).toEqual(["a"]);
  expect(normal).toEqual([]);
  expect(await taken(opened(folder), lost, starts[2])).toEqual(["a"]);
  expect(lost).toEqual([[starts[1], starts[2]]]);
});

test("sync returns the number of durable bytes", async () => {
  const folder = await temporaryFolder();
  const log = opened(folder);
  add(log, "a");
  log.write();
  const { size } = await stat(join(folder, "records"));
  add(log, "b");
  expect(await log.sync()).toBe(size);
});
