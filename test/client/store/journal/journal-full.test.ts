import type * as Fs from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openJournal } from "../../../../src/client/store/journal/journal.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../../lookup/attempts.js";

const disk = vi.hoisted(() => ({ full: false }));

vi.mock("node:fs", async (original) => {
  const fs = await original<typeof Fs>();
  const writeSync = (file: number, bytes: Buffer, from: number, length: number, at: number) => {
    if (!disk.full) return fs.writeSync(file, bytes, from, length, at);
    // Accepts a part; only the next call returns the error.
    if (from === 0) return fs.writeSync(file, bytes, from, Math.min(length, 40), at);
    throw Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
  };
  return { ...fs, writeSync };
});

const full = { code: "journal_disk_full" };

test("a full disk rejects the put and keeps earlier records", async () => {
  const folder = join(await temporaryFolder(), "journal");
  const before = await openJournal({ folder });
  await before.put("one", complete({ n: 1 }));
  disk.full = true;
  const puts = [before.put("two", complete()), before.put("three", complete())];
  for (const put of puts) await expect(put).rejects.toMatchObject(full);
  await expect(before.put("four", complete())).rejects.toMatchObject(full);
  await expect(before.sync()).rejects.toMatchObject(full);
  expect((await before.get("one"))?.finding.answers.query?.result["n"]).toBe(1);
  await before.close();

  disk.full = false;
  const after = await openJournal({ folder });
  expect((await after.get("one"))?.finding.answers.query?.result["n"]).toBe(1);
  expect(await after.get("two")).toBeNull();
  await after.put("two", complete({ n: 2 }));
  expect((await after.get("two"))?.finding.answers.query?.result["n"]).toBe(2);
  await after.close();
});
