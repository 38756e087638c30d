import { readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openJournal } from "../../../../src/lookup/journal.js";
import { assureSound } from "../../../../src/lookup/journal/assure-sound.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";
import { complete } from "../findings.js";

/** A journal of two sessions, with short findings and long ones. */
async function written(): Promise<{ readonly folder: string; readonly data: string }> {
  const folder = join(await temporaryFolder(), "journal");
  for (const session of [0, 1]) {
    const journal = await openJournal({ folder, recentLimit: 64 });
    const puts = Array.from({ length: 600 }, (_, n) =>
      journal.put(`key ${session} ${n}`, complete({ text: "x".repeat(n % 9 === 0 ? 6000 : 50) })),
    );
    await Promise.all(puts);
    await journal.close();
  }
  return { folder, data: join(folder, "data.mdb") };
}

test("what a session left is sound, and so is what is not there", async () => {
  const { folder } = await written();
  await expect(assureSound(folder)).resolves.toBeUndefined();
  await expect(assureSound(join(folder, "none"))).resolves.toBeUndefined();
});

test("a journal that was cut off is told before it is opened", async () => {
  const { folder, data } = await written();
  await truncate(data, (await stat(data)).size / 2);
  await expect(openJournal({ folder })).rejects.toMatchObject({
    code: "journal_damaged",
    message: `the journal ${folder} is damaged: it ends too early`,
    hint: "with --restart the run begins anew, without the journal",
  });
});

test("a journal whose pages were overwritten is told before it is opened", async () => {
  const { folder, data } = await written();
  const bytes = await readFile(data);
  for (let at = 8192; at < bytes.length; at += 4096) bytes.fill(0xff, at, at + 64);
  await writeFile(data, bytes);
  await expect(openJournal({ folder })).rejects.toMatchObject({ code: "journal_damaged" });
});
