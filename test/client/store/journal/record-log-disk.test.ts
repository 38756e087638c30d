import type * as Fs from "node:fs";
import { expect, test, vi } from "vitest";
import { recordParts } from "../../../../src/client/store/finding-record.js";
import { RecordLog } from "../../../../src/client/store/journal/record-log.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../../lookup/attempts.js";

/** Start of the unreadable page. */
const disk = vi.hoisted(() => ({ bad: Number.POSITIVE_INFINITY }));

type Read = (
  file: number,
  bytes: Buffer,
  from: number,
  length: number,
  at: number,
  done: (error: Error | null, bytesRead: number, buffer: Buffer) => void,
) => void;

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const read: Read = (file, bytes, from, length, at, done) => {
    if (at < disk.bad) fs.read(file, bytes, from, Math.min(length, disk.bad - at), at, done);
    else done(Object.assign(new Error("EIO: i/o error, read"), { code: "EIO" }), 0, bytes);
  };
  const readWithResult = (...[file, bytes, from, length, at]: Parameters<Read>) =>
    new Promise((resolve, reject) =>
      read(file, bytes, from, length, at, (error, bytesRead) =>
        error ? reject(error) : resolve({ bytesRead, buffer: bytes }),
      ),
    );
  return {
    ...fs,
    read: Object.assign(read, { [Symbol.for("nodejs.util.promisify.custom")]: readWithResult }),
  };
});

test("an unreadable page is reported and nothing is truncated", async () => {
  const folder = await temporaryFolder();
  const log = new RecordLog(folder);
  for (let n = 0; n < 1000; n++) {
    log.add({ previous: 0, hash: n }, recordParts(`key ${n}`, complete({ text: "x".repeat(n) })));
  }
  log.write();
  const end = log.next;
  log.close();
  disk.bad = 40_960;
  const next = new RecordLog(folder);
  const taken = async () => {
    for await (const _ of next.replay());
  };
  await expect(taken()).rejects.toMatchObject({ code: "EIO" });
  disk.bad = Number.POSITIVE_INFINITY;
  await taken();
  expect(next.next).toBe(end);
  next.close();
});
