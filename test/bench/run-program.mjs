// @ts-check
import { spawn } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { pathToFileURL, fileURLToPath } from "node:url";

const peakMemory = pathToFileURL(fileURLToPath(new URL("peak-memory.mjs", import.meta.url))).href;

/**
 * Resources used by one run of a program.
 *
 * @typedef {object} Run
 * @property {number} seconds wall-clock time from start to end
 * @property {number} cpuSeconds user and system time of all its threads
 * @property {number | null} peakBytes peak resident memory; null if the program cannot report it
 */

/**
 * Runs a program to its end. The shell that starts it reports the CPU time used (POSIX `times`,
 * with a resolution of at least 0.01 s).
 *
 * @param {readonly string[]} command program and arguments; `node` is this Node.js
 * @param {{ folder: string, signal?: AbortSignal | undefined, peak?: boolean }} options a folder
 *   for temporary files; `peak` false does not preload the module that reports the peak memory.
 *   Default true
 * @returns {Promise<Run>}
 * @throws {Error} with its output if it fails; the signal's reason when aborted
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
    // A process group of its own, so that an interrupt ends both the shell and the program.
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
 * User and system time of the shell's children: the second line of `times`.
 *
 * @param {string} times such as "0m0.00s 0m0.01s\n1m2.34s 0m5.67s\n"
 */
function cpuSecondsOf(times) {
  const parts = [...(times.split("\n")[1] ?? "").matchAll(/(\d+)m([\d.]+)s/g)];
  if (parts.length !== 2) throw new Error(`the shell's times are unreadable: ${times}`);
  return parts.reduce((sum, [, min, sec]) => sum + 60 * Number(min) + Number(sec), 0);
}

/** The environment without variables that change how the program runs. The items are reserved addresses. */
function environment() {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("REPUTE_") && name !== "NODE_OPTIONS",
  );
  return { ...Object.fromEntries(own), REPUTE_BOGONS: "ask" };
}

/** @param {unknown} stream */
async function textOf(stream) {
  let text = "";
  for await (const chunk of /** @type {import("node:stream").Readable} */ (stream)) text += chunk;
  return text;
}
