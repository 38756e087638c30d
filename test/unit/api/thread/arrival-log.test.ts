import { mkdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { packAnswers } from "../../../../src/api/thread/answer-pack.js";
import {
  arrivalFiles,
  ArrivalLog,
  frameHeadBytes,
} from "../../../../src/api/thread/arrival-log.js";
import { readArrivals } from "../../../../src/api/thread/read-arrivals.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const open: ArrivalLog[] = [];
afterEach(() => {
  for (const log of open.splice(0)) log.close();
});

const now = Date.UTC(2026, 0, 1);

function logIn(folder: string, answers = 4): ArrivalLog {
  const log = new ArrivalLog({ folder, answers }, () => now);
  open.push(log);
  return log;
}

/** Writes answers to these paths in one frame. */
function write(
  log: ArrivalLog,
  paths: readonly string[],
  body = (path: string) => `{"${path}":1}`,
) {
  const seated = paths.map((path, seat) => ({
    seat,
    path,
    answer: { status: 200, headers: {}, body: Buffer.from(body(path)) },
  }));
  const lines = paths.join("\n");
  const { answers } = packAnswers(seated, { headBytes: frameHeadBytes, paths: lines });
  log.write(Buffer.from(answers), paths.length, lines.length);
}

const pathsIn = (folder: string): string[] => [...readArrivals(folder)].map(({ path }) => path);

test("answers come back with their paths, and when they came", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder);
  write(log, ["/query/a", "/quick-check/b"]);
  write(log, ["/query/c"]);
  const arrived = [...readArrivals(folder)];
  expect(arrived.map(({ path, answer }) => [path, answer.status, String(answer.body)])).toEqual([
    ["/query/a", 200, '{"/query/a":1}'],
    ["/quick-check/b", 200, '{"/quick-check/b":1}'],
    ["/query/c", 200, '{"/query/c":1}'],
  ]);
  expect(arrived.map(({ arrivedAt }) => arrivedAt)).toEqual([now, now, now]);
});

test("the latest answers are there, in order, however many there were; its files stay short", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder, 4);
  const written: string[] = [];
  for (let n = 0; n < 1_500; n++) {
    // Frames of different lengths, so that one of an earlier turn never begins where one ends.
    const paths = Array.from(
      { length: 1 + (n % 3) },
      (_, m) => `/query/${"x".repeat(n % 7)}${n}-${m}`,
    );
    write(log, paths);
    written.push(...paths);
    if (n % 50 > 1) continue;
    const found = pathsIn(folder);
    expect(found.length).toBeGreaterThanOrEqual(Math.min(512, written.length));
    expect(found).toEqual(written.slice(-found.length));
  }
  for (const name of arrivalFiles) expect(statSync(join(folder, name)).size).toBeLessThan(60_000);
});

test("one that goes on where another was killed does not take its turn", async () => {
  const folder = await temporaryFolder();
  write(logIn(folder), ["/query/a"]);
  write(logIn(folder), ["/query/b"]);
  expect(pathsIn(folder)).toEqual(["/query/a", "/query/b"]);
});

test("what was cut off is not there", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder, 100);
  for (const path of ["/query/a", "/query/b", "/query/c"]) write(log, [path]);
  const file = join(folder, arrivalFiles[1]);
  const whole = readFileSync(file);
  const frame = whole.length / 3;
  for (let length = whole.length - 1; length >= 0; length--) {
    truncateSync(file, length);
    expect(pathsIn(folder)).toEqual(["/query/a", "/query/b"].slice(0, Math.floor(length / frame)));
  }
});

test("what was damaged is not there, all else is, and the place is told", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder, 100);
  const paths = ["/query/a", "/query/b", "/query/c"];
  for (const path of paths) write(log, [path]);
  const file = join(folder, arrivalFiles[1]);
  const whole = readFileSync(file);
  const frame = whole.length / 3;
  for (let at = 0; at < whole.length; at++) {
    const damaged = Buffer.from(whole);
    damaged[at]! ^= 0xff;
    writeFileSync(file, damaged);
    const place = Math.floor(at / frame);
    const told: string[] = [];
    const found = [...readArrivals(folder, (message) => told.push(message))];
    expect(found.map(({ path }) => path)).toEqual(paths.toSpliced(place, 1));
    const between = `between byte ${place * frame} and byte ${(place + 1) * frame}`;
    // A kill may have cut the last one off.
    expect(told).toEqual(
      place === 2 ? [] : [`${file} is damaged ${between}: lookups answered there may be repeated`],
    );
  }
});

test("a file that bodies made long has another follow soon, and is cut off before its next turn", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder, 2);
  const megabytes = () => "x".repeat(3_500_000);
  for (let n = 0; n < 6; n++) write(log, [`/query/${n}`], megabytes);
  // Five of 3.5 MB make a file long; the sixth is in the other one.
  expect(pathsIn(folder)).toHaveLength(6);
  const [other, long] = arrivalFiles.map((name) => statSync(join(folder, name)).size);
  expect(long! / other!).toBeGreaterThan(4);
  for (let n = 6; n < 10; n++) write(log, [`/query/${n}`], megabytes);
  write(log, ["/query/short"]);
  expect(statSync(join(folder, arrivalFiles[1])).size).toBeLessThan(1_024);
  expect(pathsIn(folder)).toEqual([5, 6, 7, 8, 9, "short"].map((name) => `/query/${name}`));
});

test("answers of more than 4 MiB together are not kept", async () => {
  const folder = await temporaryFolder();
  const log = logIn(folder);
  write(log, ["/query/a"]);
  write(log, ["/query/long"], () => "x".repeat(4 * 1024 * 1024));
  write(log, ["/query/b"]);
  expect(pathsIn(folder)).toEqual(["/query/a", "/query/b"]);
});

test("a folder without a log has no arrivals; one that is not there cannot be written", async () => {
  const folder = await temporaryFolder();
  expect(pathsIn(folder)).toEqual([]);
  writeFileSync(join(folder, arrivalFiles[0]), "");
  mkdirSync(join(folder, arrivalFiles[1]));
  expect(pathsIn(folder)).toEqual([]);
  expect(() => write(logIn(join(folder, "absent")), ["/query/a"])).toThrow("ENOENT");
});
