import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.js";

const program = fileURLToPath(new URL("../../dist/program/repute.js", import.meta.url));
const peakMemory = fileURLToPath(new URL("../bench/peak-memory.mjs", import.meta.url));

const mebibyte = 1024 * 1024;
const lineBytes = 1024 * mebibyte;

/** A line of about 1 GiB, made of a text again and again. */
function* longLine(text: string): Generator<Buffer> {
  const block = Buffer.from(text.repeat(Math.floor(mebibyte / text.length)));
  for (let bytes = 0; bytes < lineBytes; bytes += mebibyte) yield block;
}

test.each([
  ["prose", "seen 192.0.2.1 at hxxp://bad[.]example[.]com/a and more words; ", 2],
  ["JSON", '{"ip":"192.0.2.1","note":"some words"},', 1],
  ["no place to cut", "a".repeat(64), 0],
])(
  "a line of 1 GiB (%s) is read in bounded memory, and no item is lost",
  async (_, text, items) => {
    const folder = await temporaryFolder();
    const [output, peak] = [join(folder, "found.csv"), join(folder, "peak")];
    const args = [
      "--import",
      pathToFileURL(peakMemory).href,
      program,
      "extract",
      "-",
      "-o",
      output,
    ];
    const child = spawn(process.execPath, args, {
      env: { ...process.env, REPUTE_BENCH_PEAK: peak },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    await pipeline(Readable.from(longLine(text)), child.stdin);
    expect(await ended).toBe(0);
    const rows = (await readFile(output, "utf8")).trimEnd().split("\n").slice(1);
    const times = Math.floor(mebibyte / text.length) * (lineBytes / mebibyte);
    const found = rows.map((row) => row.split(",").slice(2).join(","));
    expect(found).toEqual(Array.from({ length: items }, () => `stdin,1,${times}`));
    // A tenth of the line needs as much.
    expect(Number(await readFile(peak, "utf8"))).toBeLessThan(400 * mebibyte);
  },
);
