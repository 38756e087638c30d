import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const rows = 30_000;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs shell lines with a disk of a given size at `disk`: a tmpfs in its own mount namespace, which
 * needs no rights outside. `repute` is the built program.
 */
function onDisk(folder: string, size: string, lines: string): Promise<Ended> {
  const script = `
    mount -t tmpfs -o size=${size} tmpfs disk || exit 99
    repute() { "${process.execPath}" "${program}" "$@"; }
    ${lines}`;
  const args = ["--user", "--map-root-user", "--mount", "bash", "-c", script];
  return new Promise((resolve) => {
    execFile("unshare", args, { cwd: folder }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout, stderr });
    });
  });
}

async function prepared(): Promise<string> {
  const folder = await temporaryFolder();
  const lines = Array.from({ length: rows }, (_, n) => `${n},198.51.${n % 100}.${n % 250}\n`);
  await writeFile(join(folder, "in.csv"), `id,ip\n${lines.join("")}`);
  await mkdir(join(folder, "disk"));
  return folder;
}

const run = "repute enrich in.csv -o disk/out.csv --local --quiet";

test.each(["64k", "1m", "4m"])(
  "a full disk of %s ends the run with one error, nothing under the final name",
  async (size) => {
    const folder = await prepared();
    const { code, stdout, stderr } = await onDisk(
      folder,
      size,
      `${run}; code=$?; ls disk; exit $code`,
    );
    expect(stderr).toMatch(/^repute: cannot write .*: the disk is full\n {2}free some space/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(stdout.split("\n")).not.toContain("out.csv");
    expect(code).toBe(1);
  },
);

test("a run whose disk was full resumes once there is space, without losing or doubling a row", async () => {
  const folder = await prepared();
  const lines = `
    head -c 2000000 /dev/zero > disk/ballast
    ${run} 2>/dev/null && exit 98
    rm disk/ballast; mount -o remount,size=60m disk
    ${run} --resume; code=$?
    cut -d, -f1,2 disk/out.csv > back.csv
    exit $code`;
  const { code, stderr } = await onDisk(folder, "3m", lines);
  expect([code, stderr]).toEqual([0, ""]);
  expect(await readFile(join(folder, "back.csv"), "utf8")).toBe(
    await readFile(join(folder, "in.csv"), "utf8"),
  );
});

test("a full folder for temporary files ends a run to stdout with one error", async () => {
  const folder = await prepared();
  const lines = "TMPDIR=disk repute enrich in.csv --local --quiet > /dev/null";
  const { code, stderr } = await onDisk(folder, "64k", lines);
  expect(stderr).toMatch(/^repute: cannot write .*: the disk is full\n/);
  expect(code).toBe(1);
});

test.each(["disk/out.parquet", "duckdb:disk/out.duckdb"])(
  "a run into %s whose disk was full resumes once there is space, without losing or doubling a row",
  async (output) => {
    const folder = await prepared();
    const lines = `
      head -c 2000000 /dev/zero > disk/ballast
      repute enrich in.csv -o '${output}' --local --quiet && exit 98
      rm disk/ballast; mount -o remount,size=200m disk
      repute enrich in.csv -o '${output}' --local --quiet --resume || exit 97
      repute verify '${output}'`;
    const { code, stdout, stderr } = await onDisk(folder, "3m", lines);
    expect(stderr).toMatch(/^repute: cannot write .*: the disk is full\n {2}free some space/);
    expect(stderr).not.toMatch(/^ +at /m);
    expect(code).toBe(0);
    expect(stdout).toMatch(/: 30000 rows.*, matches its manifest\n$/);
  },
);
