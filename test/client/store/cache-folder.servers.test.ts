import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../../dist/program/repute.js", import.meta.url));

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

/**
 * Runs shell lines in their own namespace, where `repute` is the built program, `disk` can be
 * mounted, and root has no rights outside.
 */
function within(folder: string, lines: string): Promise<Ended> {
  const script = `repute() { "${process.execPath}" "${program}" "$@"; }\n${lines}`;
  const args = ["--user", "--map-root-user", "--mount", "bash", "-c", script];
  return new Promise((resolve) => {
    execFile("unshare", args, { cwd: folder }, (error, _stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stderr });
    });
  });
}

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

const run = "repute enrich in.csv -o out.csv --cache disk/cache --local --quiet";

test.each([
  [
    "is full",
    "size=1m",
    3_000,
    "",
    /^repute: warning: cannot open the cache .*: the disk is full; /,
  ],
  [
    "becomes full",
    "size=10m",
    3_000,
    "",
    /^repute: warning: the disk of the cache .* is nearly full; no more answers are cached/,
  ],
  [
    "is read-only",
    "size=20m",
    200,
    `${run} || exit 98; rm out.csv; mount -o remount,ro disk`,
    /^repute: warning: cannot open the cache .*: the file system is read-only; the run continues/,
  ],
  [
    "is read-only from the start",
    "size=20m,ro",
    200,
    "",
    /^repute: warning: cannot open the cache .*: the file system is read-only; the run continues/,
  ],
])("a cache whose disk %s costs one warning and no row", async (_how, disk, rows, before, line) => {
  const folder = await prepared(rows);
  const lines = `mount -t tmpfs -o ${disk} tmpfs disk || exit 99\n${before}\n${run}`;
  const { code, stderr } = await within(folder, lines);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(line);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
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
  const { code, stderr } = await within(folder, lines);
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stderr).toMatch(
    /^repute: warning: cannot open the cache .*; the run continues without the cache\n$/,
  );
  expect(await rowsOf(folder)).toBe(rows);
});
