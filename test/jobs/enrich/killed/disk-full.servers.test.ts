import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runEnds } from "../../../helpers/run-ends.js";
import { reply, startScriptedServer } from "../../../helpers/scripted-server.js";
import { type Ended, shell } from "../../../helpers/shell.js";
import { temporaryFolder } from "../../../helpers/temporary-folder.js";

const rows = 30_000;

/** With a disk of a given size at `disk`. */
const onDisk = (cwd: string, size: string, lines: string): Promise<Ended> =>
  shell(lines, { cwd, disk: `size=${size}` });

async function prepared(): Promise<string> {
  const folder = await temporaryFolder();
  const lines = Array.from({ length: rows }, (_, n) => `${n},198.51.${n % 100}.${n % 250}\n`);
  await writeFile(join(folder, "in.csv"), `id,ip\n${lines.join("")}`);
  const items = Array.from({ length: 4000 }, (_, n) => `h-${n}.example.com\n`);
  await writeFile(join(folder, "report.txt"), items.join(""));
  await mkdir(join(folder, "disk"));
  return folder;
}

const run = "repute enrich in.csv -o disk/out.csv --local --quiet";

const full = /^repute: cannot write .*: the disk is full\n {2}free some space/;

test.each([
  // A run leaves its state, and what of its rows could be written, to continue with.
  ["64k", run, ["out.csv.state"]],
  ["4m", run, ["out.csv.part", "out.csv.state"]],
  // A run to stdout, by its temporary files.
  ["64k", "TMPDIR=disk repute enrich in.csv --local --quiet > /dev/null", []],
  ["64k", "repute extract report.txt --quiet -o disk/found.csv", []],
  ["64k", "repute extract report.txt --quiet > disk/found.csv", ["found.csv"]],
])(
  "a full disk of %s ends a command with one error, nothing under the final name: %s",
  async (...given) => {
    const [size, line, left] = given;
    const folder = await prepared();
    const ended = await onDisk(folder, size, `${line}; code=$?; ls disk; exit $code`);
    expect(ended.stderr).toMatch(full);
    expect(ended.stderr).not.toMatch(/^ +at /m);
    expect(ended.stdout.split("\n").filter((name) => name !== "")).toEqual(left);
    expect(ended.code).toBe(1);
  },
);

test("a run whose rows are staged on a full disk resumes once there is space", async () => {
  const folder = await prepared();
  const lines = `
      head -c 2000000 /dev/zero > disk/ballast
      repute enrich in.csv -o disk/out.parquet --local --quiet && exit 98
      rm disk/ballast; mount -o remount,size=200m disk
      repute enrich in.csv -o disk/out.parquet --local --quiet --resume || exit 97
      repute verify disk/out.parquet`;
  const { code, stdout, stderr } = await onDisk(folder, "3m", lines);
  expect(stderr).toMatch(full);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(code).toBe(0);
  expect(stdout).toMatch(/: 30,000 rows.*, matches its manifest\n$/);
});

test("when the disk is full, every machine learns of it", async () => {
  const folder = await prepared();
  const monitor = await startScriptedServer([reply(200, "OK")]);
  const end = runEnds["the disk is full"];
  // The metrics are on another disk.
  const watched = `${run} --json --metrics night.prom --ping ${monitor.url}/night`;
  const lines = `
    head -c 2000000 /dev/zero > disk/ballast
    ${watched} > night.json 2> night.log; echo $? > code; cp night.prom full.prom
    rm disk/ballast; mount -o remount,size=60m disk
    ${watched} --resume > morning.json; code=$?
    cut -d, -f1,2 disk/out.csv > back.csv
    exit $code`;
  const { code, stderr } = await onDisk(folder, "3m", lines);
  const read = (name: string): Promise<string> => readFile(join(folder, name), "utf8");
  expect([code, stderr]).toEqual([0, ""]);
  expect(Number(await read("code"))).toBe(end.code);
  const night = await read("night.json");
  expect(JSON.parse(night)).toMatchObject({
    exit_reason: end.reason,
    exit_code: end.code,
    resumable: end.resumable,
    error: { message: expect.stringMatching(/^cannot write .*: the disk is full$/) },
  });
  expect(await read("night.log")).toMatch(/^repute: cannot write .*: the disk is full\n {2}free/);
  const metrics = await read("full.prom");
  expect(metrics).toMatch(/^repute_exit_code\{.*\} 1$/m);
  expect(metrics).toMatch(/^repute_exit_reason\{.*="io"\} 1$/m);
  const paths = [...end.pings, "/start", ""].map((path) => `/night${path}`);
  expect(monitor.requests.map(({ path }) => path)).toEqual(paths);
  expect(monitor.requests[1]?.body).toBe(night.trimEnd());
  expect(JSON.parse(await read("morning.json"))).toMatchObject({
    exit_reason: "done",
    exit_code: 0,
    resumed: 1,
    output: { rows },
  });
  expect(await read("back.csv")).toBe(await read("in.csv"));
});

test("a full temporary folder ends a comparison with one error and is left empty", async () => {
  const folder = await prepared();
  // More than SQLite keeps in memory.
  const items = Array.from({ length: rows }, (_, n) => `h-${n}.${"x".repeat(60)}.example.com\n`);
  await writeFile(join(folder, "in.csv"), `item\n${items.join("")}`);
  const { code, stdout, stderr } = await onDisk(
    folder,
    "64k",
    "repute enrich in.csv -o out.csv --local --quiet; TMPDIR=$PWD/disk repute diff out.csv out.csv; code=$?; ls disk; exit $code",
  );
  expect(stderr).toMatch(
    /^repute: cannot compare in a temporary file: (?:the|database or) disk is full\n {2}free space in the folder of temporary files, or set TMPDIR to another one\n$/,
  );
  expect([code, stdout]).toEqual([1, ""]);
});
