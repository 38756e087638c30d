import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, shell } from "../../helpers/shell.js";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

async function prepared(rows: number): Promise<string> {
  const folder = await temporaryFolder();
  const names = Array.from({ length: rows }, (_, n) => `n${n}.example.com\n`);
  await writeFile(join(folder, "in.csv"), `domain\n${names.join("")}`);
  await mkdir(join(folder, "disk"));
  return folder;
}

async function rowsOf(folder: string): Promise<number> {
  return (await readFile(join(folder, "out.csv"), "utf8")).trimEnd().split("\n").length - 1;
}

const readOnly = "the file system is read-only; the run continues";
const run = "repute enrich in.csv -o out.csv --cache disk/cache --local --quiet";

const remounted = `${run} || exit 98; rm out.csv; mount -o remount,ro disk`;

test.each([
  ["is full", "size=64k", 3_000, "", "open", "the disk is full; the run continues"],
  ["becomes full", "size=3m", 3_000, "", "write", "the disk is full; no more answers are cached"],
  ["is read-only", "size=20m", 200, remounted, "open", readOnly],
  ["is read-only from the start", "size=20m,ro", 200, "", "open", readOnly],
])("a cache whose disk %s costs one warning and no row", async (...given) => {
  const [, disk, rows, before, failed, reason] = given;
  const folder = await prepared(rows);
  const { code, stderr } = await shell(`${before}\n${run}`, { cwd: folder, disk });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  const warning = `^repute: warning: cannot ${failed} the cache .*: ${reason}.*\n$`;
  expect(stderr).toMatch(new RegExp(warning));
  expect(await rowsOf(folder)).toBe(rows);
});

test.each([
  ["the cache's folder", "chmod 0500 disk; "],
  ["the files of a cache that is there", `${run}; chmod -R a-w disk/cache; `],
])("%s without write permission costs one warning and no row", async (_what, before) => {
  const rows = 200;
  const folder = await prepared(rows);
  // Without root's right to ignore file modes.
  const lines = `${before}exec unshare --user "${process.execPath}" "${program}" ${run.slice(7)}`;
  const { code, stderr } = await shell(lines, { cwd: folder, as: "root" });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(
    /^repute: warning: cannot open the cache .*; the run continues without the cache\n$/,
  );
  expect(await rowsOf(folder)).toBe(rows);
});
