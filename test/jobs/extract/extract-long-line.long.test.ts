import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../helpers/temporary-folder.js";
import { program } from "../../helpers/shell.js";

const peakMemory = fileURLToPath(new URL("../../bench/peak-memory.mjs", import.meta.url));

const mebibyte = 1024 * 1024;

/** A line of about so many MiB, made of a text again and again. */
function* longLine(text: string, size: number): Generator<Buffer> {
  const block = Buffer.from(text.repeat(Math.floor(mebibyte / text.length)));
  for (let written = 0; written < size; written++) yield block;
}

test.each([
  [512, "prose", "seen 192.0.2.1 at hxxp://bad[.]example[.]com/a and more words; ", 2],
  [256, "JSON", '{"ip":"192.0.2.1","note":"some words"},', 1],
  [256, "no place to cut", "a".repeat(64), 0],
])(
  "a line of %i MiB (%s) is read in bounded memory, and no item is lost",
  async (size, _, text, items) => {
    const folder = await temporaryFolder();
    const [output, peak] = [join(folder, "found.csv"), join(folder, "peak")];
    const measured = ["--import", pathToFileURL(peakMemory).href, program];
    const child = spawn(process.execPath, [...measured, "extract", "-", "-o", output], {
      env: { ...process.env, REPUTE_BENCH_PEAK: peak },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await pipeline(Readable.from(longLine(text, size)), child.stdin);
    expect(await ended).toBe(0);
    const rows = (await readFile(output, "utf8")).trimEnd().split("\n").slice(1);
    const times = Math.floor(mebibyte / text.length) * size;
    const found = rows.map((row) => row.split(",").slice(2).join(","));
    expect(found).toEqual(Array.from({ length: items }, () => `stdin,1,${times}`));
    // 100 MiB need about half as much.
    expect(Number(await readFile(peak, "utf8"))).toBeLessThan(400 * mebibyte);
  },
);
