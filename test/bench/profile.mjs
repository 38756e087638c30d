// @ts-check
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { repute, reputeProgram, unbundledProgram } from "./contestants.mjs";
import { withWork } from "./run-measure.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * The part of V8's profile that is used here.
 *
 * @typedef {object} CpuProfile
 * @property {readonly { id: number, callFrame: { functionName: string, url: string } }[]} nodes
 * @property {readonly number[]} samples id of the running node
 * @property {readonly number[]} timeDeltas microseconds since the previous sample
 */

/**
 * Runs the program with one lookup a row under V8's sampling profiler.
 *
 * @param {{ rows: number, concurrency: number, signal: AbortSignal }} settings
 * @returns {Promise<[part: string, micros: number][]>} microseconds a row of each part, in all
 *   threads, the largest first
 */
export async function cpuByPart(settings) {
  return withWork({ ...settings, latencyMs: 0 }, async (work) => {
    const { command, prepare } = repute(work);
    const folder = join(work.folder, "profiles");
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder);
    await prepare?.();
    // The bundle doesn't tell which module a function belongs to.
    const args = command.slice(1).map((arg) => (arg === reputeProgram ? unbundledProgram : arg));
    await runProgram(["node", "--cpu-prof", "--cpu-prof-dir", folder, ...args], work);
    /** @type {Map<string, number>} */
    const micros = new Map();
    for (const file of await readdir(folder)) {
      /** @type {CpuProfile} */
      const profile = JSON.parse(await readFile(join(folder, file), "utf8"));
      const partOf = new Map(profile.nodes.map(({ id, callFrame }) => [id, part(callFrame)]));
      for (const [n, id] of profile.samples.entries()) {
        const name = partOf.get(id) ?? null;
        if (name === null) continue;
        micros.set(name, (micros.get(name) ?? 0) + (profile.timeDeltas[n] ?? 0) / work.rows);
      }
    }
    return [...micros].sort(([, a], [, b]) => b - a);
  });
}

/** @type {readonly [RegExp, string][]} */
const parts = [
  [/\/node_modules\/undici\/|^wasm:|^node:(?:net|_http|internal\/stream_base)/, "HTTP"],
  [/\/node_modules\/csv-parse\/|\/dist\/io\/(?:input|formats)\//, "reading, and writing CSV"],
  [/\/node_modules\/csv-stringify\/|\/dist\/io\/output\//, "reading, and writing CSV"],
  [/\/node_modules\/@photostructure\/|\/dist\/client\/store\//, "answers in SQLite"],
  [/\/dist\/client\/api\/|\/node_modules\/zod\//, "requests, and checks of answers"],
  [/\/dist\/client\//, "lookups: retry, pace, slots"],
  [/\/dist\/jobs\//, "rows: window, counts, checkpoints"],
  [/\/dist\/core\/|\/node_modules\/(?:tldts|ipaddr)/, "items, verdicts and columns"],
];

/**
 * The part that a function belongs to; null while nothing runs.
 *
 * @param {{ functionName: string, url: string }} frame
 */
function part({ functionName, url }) {
  if (functionName === "(idle)") return null;
  if (functionName === "(garbage collector)") return "garbage collection";
  const own = parts.find(([pattern]) => pattern.test(url))?.[1];
  return own ?? (url === "" ? "built into V8 and Node.js" : "the rest");
}
