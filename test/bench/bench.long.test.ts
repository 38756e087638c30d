import { execFile, spawn } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("./bench.mjs", import.meta.url));

/** Runs the benchmarks at a size too small to measure anything, and checks their report. */
async function bench(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, TMPDIR: folder };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { env });
  return stdout;
}

const small = ["--rows", "40", "--repeat", "1"];

test("every measure runs, reports its ratios and leaves nothing behind", async () => {
  const folder = await temporaryFolder();
  const named = ["csv", "lookups", "cache", "night", "outputs", "latency", "start", "memory"];
  const table = await bench(folder, ...named, ...small);
  const ratios = [...table.matchAll(/^\| (?!Measure|---)[^|]+ \| ([^|]+) \| ([\d.,]+)[^|]* \|/gm)];
  expect(ratios.map(([, pair]) => pair)).toEqual([
    "repute ÷ bare",
    "repute ÷ script",
    "repute ÷ bare",
    "repute ÷ bare",
    "second ÷ first",
    "Parquet ÷ repute",
    "DuckDB ÷ repute",
    "repute ÷ 256 / 50 ms",
    "repute ÷ bare",
    "--version ÷ node -e 0, wall time",
    "all rows ÷ a tenth, peak memory",
  ]);
  const none = ratios.filter(([, , median]) => !(Number(median!.replaceAll(",", "")) > 0));
  expect(none).toEqual([]);
  expect(await readdir(folder)).toEqual([]);
}, 180_000);

test("writes figures and shares of the processor's time between the marks of a page", async () => {
  const folder = await temporaryFolder();
  const page = join(folder, "page.md");
  await writeFile(page, "# Page\n\n<!-- measured -->\nold\n<!-- end -->\n\nThe end.\n");
  await bench(folder, "lookups", ...small, "--page", page);
  const text = await readFile(page, "utf8");
  expect(text).toMatch(/^# Page\n\n<!-- measured -->\n[^]*<!-- end -->\n\nThe end\.\n$/);
  expect(text).toMatch(/\| both lookups, [^|]+\| repute ÷ bare \| [\d.]+[^|]* \| [\d.]+[^|]* \| ≥/);
  expect(text).toMatch(/\| answers in SQLite \| [\d.,]+ \| \d+% \|/);
  expect(text).not.toContain("old");
}, 180_000);

test("refuses an unknown name and lists the known ones", async () => {
  const folder = await temporaryFolder();
  await expect(bench(folder, "speed")).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^there is no measure speed\n\n[^]*\n {2}csv +CSV → query/),
  });
});

test("an interrupt ends the running program, reports what was measured, and leaves nothing behind", async () => {
  const folder = await temporaryFolder();
  const args = [program, "start", "latency", "--rows", "1000000", "--repeat", "1"];
  const child = spawn(process.execPath, args, { env: { ...process.env, TMPDIR: folder } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  const ended = new Promise((resolve) => child.on("close", resolve));
  const underWay = async () =>
    expect(await readdir(folder, { recursive: true })).toContainEqual(
      expect.stringMatching(/repute\.csv\.part$/),
    );
  await vi.waitFor(underWay, { timeout: 50_000, interval: 50 });
  child.kill("SIGTERM");
  expect(await ended).toBe(1);
  expect(stdout.match(/^\| (?!Measure|---).*/gm)).toEqual([
    expect.stringMatching(/^\| start-up \|/),
  ]);
  expect(await readdir(folder)).toEqual([]);
}, 180_000);
