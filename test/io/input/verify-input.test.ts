import { appendFile, readFile, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ChecksumState } from "../../../src/core/files/checksum.js";
import { openInput } from "../../../src/io/input/open-input.js";
import type { SourceInput } from "../../../src/io/input/types.js";
import { contentOf } from "./sources/sources-reading.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const text = Buffer.from(Array.from({ length: 40_000 }, (_, n) => `192.0.2.${n}\n`).join(""));

const arrivals = [
  ["a plain file", (path: string) => ({ path }), false],
  ["a stream", piped, false],
  ["gzip", (path: string) => ({ path }), true],
] as const;

describe("an input that earlier sessions read", () => {
  it.each(arrivals)("is read if unchanged: %s", async (_, inputOf, gzip) => {
    const stored = gzip ? gzipSync(text) : text;
    const path = await fileOf(stored);
    const before = await readBefore(path, 5_000);
    const bytes = await openInput(await inputOf(path), { gzip, before });
    expect(text.equals(await contentOf(bytes))).toBe(true);
    expect(bytes.checksum()).toMatchObject({ bytes: stored.length });
  });

  it("may have grown", async () => {
    const path = await fileOf(text);
    const before = await readBefore(path, text.length);
    await appendFile(path, "192.0.2.1\n");
    const bytes = await openInput({ path }, { gzip: false, before });
    expect(await contentOf(bytes)).toEqual(await readFile(path));
  });

  it.each(arrivals)(
    "is rejected with the byte range if its middle was edited: %s",
    async (_, inputOf, gzip) => {
      const path = await fileOf(gzip ? gzipSync(text, { level: 0 }) : text);
      const before = await readBefore(path, 300_000);
      const at = 200_000;
      const bytes = await readFile(path);
      bytes[at] = bytes[at] === 0x31 ? 0x32 : 0x31;
      await writeFile(path, bytes);
      const reading = openInput(await inputOf(path), { gzip, before }).then(contentOf);
      const error = await reading.catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: "input_changed",
        hint: expect.stringContaining("a new run starts with the answers so far") as string,
      });
      const [, from, to] =
        /in\.csv has changed since it was read, between byte (\d+) and byte (\d+)/.exec(
          String(error),
        ) ?? [];
      expect([Number(from) <= at, Number(to) > at]).toEqual([true, true]);
    },
  );

  it("is rejected if it ends before what was read", async () => {
    const path = await fileOf(text);
    const before = await readBefore(path, 300_000);
    await truncate(path, 200_000);
    const reading = openInput({ path }, { gzip: false, before }).then(contentOf);
    await expect(reading).rejects.toMatchObject({ code: "input_changed" });
  });

  it("keeps its checksum when a session ends early", async () => {
    const path = await fileOf(text);
    const before = await readBefore(path, 300_000);
    const bytes = await openInput({ path }, { gzip: false, before });
    await bytes.chunks.next();
    expect(bytes.checksum()).toEqual(before);
    await bytes.close();
  });
});

describe("a file changed during reading", () => {
  it.each<[string, number, (path: string) => Promise<void>]>([
    ["grow", text.length + 10, (path) => appendFile(path, "192.0.2.1\n")],
    ["get a new modification time", text.length, (path) => utimes(path, 1, 1)],
  ])("may %s", async (_, length, change) => {
    expect((await readWhile(await fileOf(text), change)).length).toBe(length);
  });

  it.each<[string, RegExp, (path: string) => Promise<void>]>([
    [
      "truncated",
      /in\.csv was truncated while it was read, from \d+ to 200000 bytes$/,
      (path) => truncate(path, 200_000),
    ],
    [
      "overwritten",
      /in\.csv has changed since it was read, between byte 0 and byte \d+$/,
      async (path) => {
        await writeFile(path, Buffer.concat([Buffer.from("x"), text.subarray(1)]));
        // Independent of the file system's time resolution.
        await utimes(path, 1, 1);
      },
    ],
  ])("is rejected if it is %s", async (_, message, change) => {
    await expect(readWhile(await fileOf(text), change)).rejects.toMatchObject({
      code: "input_changed",
      message: expect.stringMatching(message) as string,
    });
  });
});

async function fileOf(bytes: Buffer): Promise<string> {
  const path = join(await temporaryFolder(), "in.csv");
  await writeFile(path, bytes);
  return path;
}

async function piped(path: string): Promise<SourceInput> {
  const bytes = await readFile(path);
  const pieces = Array.from({ length: 50 }, (_, n) =>
    bytes.subarray(Math.floor((n * bytes.length) / 50), Math.floor(((n + 1) * bytes.length) / 50)),
  );
  return { stream: Readable.from(pieces, { objectMode: false }), name: path };
}

/** Checksum of an input of which at least `least` bytes were read. */
async function readBefore(path: string, least: number): Promise<ChecksumState> {
  const bytes = await openInput({ path }, { gzip: false });
  while (bytes.bytesRead() < least && !(await bytes.chunks.next()).done);
  const checksum = bytes.checksum();
  await bytes.close();
  return checksum;
}

/** Reads a file and changes it after the first chunks. */
async function readWhile(path: string, change: (path: string) => Promise<void>): Promise<Buffer> {
  const bytes = await openInput({ path }, { gzip: false });
  const first = [await bytes.chunks.next(), await bytes.chunks.next()];
  await change(path);
  const read = first.map(({ value }) => value as Buffer);
  return Buffer.concat([...read, await contentOf(bytes)]);
}
