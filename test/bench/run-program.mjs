// @ts-check
import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { pathToFileURL, fileURLToPath } from "node:url";

const peakMemory = pathToFileURL(fileURLToPath(new URL("peak-memory.mjs", import.meta.url))).href;

/**
 * What one run of a program took.
 *
 * @typedef {object} Run
 * @property {number} seconds from its start to its end, by the clock on the wall
 * @property {number} cpuSeconds of its own, user and system, all threads
 * @property {number | null} peakBytes most resident memory; null where the program cannot be asked
 */

/**
 * Runs a program to its end. The shell that starts it tells the CPU time that it took (POSIX `times`,
 * in hundredths of a second at the worst).
 *
 * @param {readonly string[]} command program and arguments; `node` is this Node.js
 * @param {{ folder: string, signal?: AbortSignal | undefined, peak?: boolean }} options a folder for its own traces; `peak` false leaves
 *   out what asks for the peak of memory, a module that is loaded beside the program. Default true
 * @returns {Promise<Run>}
 * @throws {Error} when it fails, with what it said; the signal's reason when it aborts
 */
export async function runProgram(command, { folder, signal, peak = true }) {
  const [program = "", ...args] = command;
  const asked = peak && program === "node";
  const peakFile = `${folder}/peak`;
  const line = [
    program === "node" ? process.execPath : program,
    ...(asked ? ["--import", peakMemory] : []),
    ...args,
  ];
  const begun = performance.now();
  const child = spawn("sh", ["-c", '"$@"; status=$?; times >&3; exit $status', "sh", ...line], {
    // A group of processes of its own, so that an interruption ends the program with the shell.
    detached: true,
    stdio: ["ignore", "ignore", "pipe", "pipe"],
    env: { ...environment(), REPUTE_BENCH_PEAK: peakFile },
  });
  const [said, times] = [textOf(child.stdio[2]), textOf(child.stdio[3])];
  const end = () => void (child.pid !== undefined && process.kill(-child.pid, "SIGKILL"));
  signal?.addEventListener("abort", end, { once: true });
  const code = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
  signal?.removeEventListener("abort", end);
  signal?.throwIfAborted();
  const seconds = (performance.now() - begun) / 1000;
  if (code !== 0) {
    throw new Error(`${command.slice(0, 3).join(" ")} … ended with ${code}: ${await said}`);
  }
  const peakBytes = asked ? Number(await readFile(peakFile, "utf8")) : null;
  if (asked) await rm(peakFile);
  return { seconds, cpuSeconds: cpuSecondsOf(await times), peakBytes };
}

/**
 * User and system time of the shell's children: the second line of what `times` prints.
 *
 * @param {string} times such as "0m0.00s 0m0.01s\n1m2.34s 0m5.67s\n"
 */
export function cpuSecondsOf(times) {
  const parts = [...(times.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  if (parts.length !== 2) throw new Error(`the shell's times are unreadable: ${times}`);
  return parts.reduce(
    (sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds),
    0,
  );
}

/** The environment without what would change how the program runs. */
function environment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith("REPUTE_") && name !== "NODE_OPTIONS",
    ),
  );
}

/** @param {unknown} stream */
async function textOf(stream) {
  let text = "";
  for await (const chunk of /** @type {import("node:stream").Readable} */ (stream)) text += chunk;
  return text;
}
