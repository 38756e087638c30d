import type { StatsFs } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { openJournal } from "../../../src/lookup/journal.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { complete } from "./findings.js";

const disk = vi.hoisted(() => ({ full: false }));

vi.mock("node:fs", async (original) => {
  const fs = await original<{ statfsSync(path: string): StatsFs }>();
  const statfsSync = (path: string): StatsFs =>
    Object.assign(fs.statfsSync(path), disk.full ? { bavail: 0 } : {});
  return { ...fs, statfsSync };
});

test("who asks for what is in the file only is told that the disk is full", async () => {
  const folder = join(await temporaryFolder(), "journal");
  const journal = await openJournal({
    folder,
    recentLimit: 64,
    filterBytes: 1 << 20,
    mappedLimit: 1,
  });
  // So much that reading it maps more of the file than is allowed.
  const finding = complete({ text: "x".repeat(5000) });
  for (let at = 0; at < 3000; at += 50) {
    await Promise.all(Array.from({ length: 50 }, (_, n) => journal.put(`key ${at + n}`, finding)));
  }
  disk.full = true;
  // In the log; the database is to take it over when the file is opened anew for somebody who asks.
  await journal.put("another", complete());
  const asked = async () => {
    for (let n = 0; n < 3000; n++) await journal.get(`key ${n}`);
  };
  await expect(asked()).rejects.toMatchObject({ code: "journal_disk_full" });
  await expect(journal.put("one more", complete())).rejects.toMatchObject({
    code: "journal_disk_full",
  });
  disk.full = false;
  await journal.close();
});
