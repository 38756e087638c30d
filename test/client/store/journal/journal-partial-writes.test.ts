import type * as Fs from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openJournal } from "../../../../src/client/store/journal/journal.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../../lookup/attempts.js";

/** Most bytes the system accepts per write. */
const system = vi.hoisted(() => ({ takes: 7 }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const writeSync = (file: number, bytes: Buffer, from: number, length: number, at: number) =>
    system.takes === 0 ? 0 : fs.writeSync(file, bytes, from, Math.min(length, system.takes), at);
  return { ...fs, writeSync };
});

test("a record is written in full, however little each write accepts", async () => {
  const folder = join(await temporaryFolder(), "journal");
  system.takes = 7;
  const before = await openJournal({ folder });
  await before.put("key", complete({ text: "0123456789".repeat(20) }));
  await before.close();
  const after = await openJournal({ folder });
  const text = "0123456789".repeat(20);
  expect((await after.get("key"))?.finding).toEqual(complete({ text }).finding);
  await after.close();
});

test("a write that accepts nothing ends with an error instead of a loop", async () => {
  system.takes = 7;
  const journal = await openJournal({ folder: join(await temporaryFolder(), "journal") });
  system.takes = 0;
  await expect(journal.put("key", complete())).rejects.toMatchObject({ code: "journal_disk_full" });
  await journal.close();
});
