import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import type { Manifest } from "../../src/core/manifest.js";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const samples = fileURLToPath(new URL("../../samples", import.meta.url));
const run = promisify(execFile);

/** Runs a sample of the library to its end, in this process; returns what it printed. */
async function library(name: string, args: readonly string[] = []): Promise<string> {
  const path = join(samples, "library", name);
  const [argv, log] = [process.argv, vi.spyOn(console, "log").mockReturnValue()];
  process.argv = [process.execPath, path, ...args];
  try {
    await import(pathToFileURL(path).href);
    return log.mock.calls.map((words) => `${words.join(" ")}\n`).join("");
  } finally {
    process.argv = argv;
    log.mockRestore();
  }
}

test("demo.mjs enriches the sample and a dump, makes a report and exports lists", async () => {
  // Partial answers are asked for again after a while, which takes real time.
  const env = { ...process.env, REPUTE_PARTIAL_RETRIES: "0" };
  const { stdout } = await run(process.execPath, [join(samples, "demo.mjs")], { env });
  expect(stdout).toMatch(/^ {2}192\.0\.2\.\d+$/m);
  expect(stdout).toContain("\n  seen,indicator,note,rep_item,rep_kind,");
  const files = await readdir(join(samples, "..", ".out", "demo"));
  expect(files).toEqual(
    expect.arrayContaining(["indicators.enriched.csv", "report.html", "tag-ips"]),
  );
});

test("lookup.mjs looks one item up", async () => {
  expect(await library("lookup.mjs")).toBe("ip 192.0.2.1: malicious\nnetwork: Example Hosting\n");
});

test("stream.mjs prints the items of stdin with their verdicts, in order", async () => {
  const list = await readFile(join(samples, "watchlist.txt"), "utf8");
  const sample = run(process.execPath, [join(samples, "library", "stream.mjs")]);
  sample.child.stdin?.end(list);
  expect((await sample).stdout.trimEnd().split("\n")).toEqual([
    "192.0.2.66: malicious",
    "hxxps://downloads[.]example[.]net/setup.exe: malicious",
    "parked(dot)example(dot)org: none",
    "abuse[at]example[.]com: none",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709: none",
    "LKDxGDJq5fF4FohAB8zJH24mDDNHDNtqsE: none",
    "203.0.113.40: suspicious",
    "3 are malicious or suspicious",
  ]);
});

test("file.mjs enriches a file and leaves its manifest", async () => {
  const output = join(await temporaryFolder(), "out.csv");
  const printed = await library("file.mjs", [join(samples, "indicators.csv"), output]);
  expect(printed).toBe("24 rows, 0 failed, 13 malicious\n");
  const manifest = JSON.parse(await readFile(`${output}.manifest.json`, "utf8")) as Manifest;
  expect(manifest).toMatchObject({ exit_reason: "done", output: { path: output, rows: 24 } });
});
