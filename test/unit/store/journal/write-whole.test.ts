import { closeSync, openSync } from "node:fs";
import type * as Fs from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { writeWhole } from "../../../../src/store/journal/write-whole.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

/** Most bytes that the system takes at once. */
const system = vi.hoisted(() => ({ takes: 7 }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const writeSync = (file: number, bytes: Buffer, from: number, length: number, at: number) =>
    system.takes === 0 ? 0 : fs.writeSync(file, bytes, from, Math.min(length, system.takes), at);
  return { ...fs, writeSync };
});

test("writes all of it, however little the system takes at once", async () => {
  const path = join(await temporaryFolder(), "file");
  const file = openSync(path, "w");
  writeWhole(file, Buffer.from("0123456789abcdefghij, and not this"), 20, 0);
  writeWhole(file, Uint32Array.of(0x44434241, 0x48474645, 0x4c4b4a49), 12, 20);
  closeSync(file);
  expect(await readFile(path, "latin1")).toBe("0123456789abcdefghijABCDEFGHIJKL");
});

test("a system that takes nothing is no reason to try for ever", async () => {
  const file = openSync(join(await temporaryFolder(), "file"), "w");
  system.takes = 0;
  expect(() => writeWhole(file, Buffer.from("abc"), 3, 0)).toThrow("nothing was written");
  closeSync(file);
});
