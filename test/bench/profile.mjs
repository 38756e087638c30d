// @ts-check
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { bare, reputeProgram, unbundledProgram } from "./contestants.mjs";
import { runProgram } from "./run-program.mjs";
import { measures } from "./measures.mjs";
import { withWork } from "./run-measure.mjs";
import { figure, textTable } from "./text-table.mjs";

/**
 * The part of V8's profile that is used here.
 *
 * @typedef {object} CpuProfile
 * @property {readonly { id: number, callFrame: CallFrame }[]} nodes
 * @property {readonly number[]} samples id of the running node
 * @property {readonly number[]} timeDeltas microseconds since the previous sample
 *
 * @typedef {{ functionName: string, url: string, lineNumber: number }} CallFrame
 *
 * @typedef {{ group: string, name: string, place: string, micros: number }} Self
 */

/**
 * Runs the program of a measure under V8's sampling profiler.
 *
 * @param {string} name of a measure whose first contestant is profiled, or `bare` for the baseline
 * @param {{ rows: number, concurrency: number, folder: string, signal: AbortSignal, onRun: (text:
 *   string) => void }} settings the profile is written to `folder`
 * @returns {Promise<{ path: string, rows: number, profile: CpuProfile }>}
 */
export async function takeProfile(name, { rows, concurrency, folder, signal, onRun }) {
  const measure = measures[name];
  const target = join(folder, name);
  await rm(target, { recursive: true, force: true });
  await mkdir(target, { recursive: true });
  return withWork(
    { rows, concurrency, latencyMs: measure?.latencyMs ?? 0, signal },
    async (work) => {
      const [contestant] = (await measure?.contestants(work)) ?? [bare(work)];
      // The bundle does not tell which module a function belongs to.
      const args = (contestant?.command ?? [])
        .slice(1)
        .map((arg) => (arg === reputeProgram ? unbundledProgram : arg));
      await contestant?.prepare?.();
      onRun(`profile of ${name}, ${rows} rows`);
      await runProgram(["node", "--cpu-prof", "--cpu-prof-dir", target, ...args], work);
      // Other threads write profiles of their own; the main thread's is by far the largest.
      const files = (await readdir(target)).map((file) => join(target, file));
      const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
      const at = texts.reduce(
        (most, text, n) => (text.length > (texts[most] ?? "").length ? n : most),
        0,
      );
      return { path: files[at] ?? "", rows, profile: JSON.parse(texts[at] ?? "") };
    },
  );
}

/** Groups with a smaller share of the time are combined. */
const leastShare = 0.001;

/** Maximum length of a printed function name. */
const longestName = 50;

/**
 * Time per group of modules, and the functions with the largest self time.
 *
 * @param {CpuProfile} profile
 * @param {number} rows
 */
export function reportProfile(profile, rows) {
  const selves = selfTimes(profile);
  const busy = selves.filter(({ group }) => group !== "(idle)");
  const total = sum(busy);
  const idle = sum(selves) - total;
  const share = (/** @type {number} */ micros) => `${((100 * micros) / total).toFixed(1)}%`;
  const each = (/** @type {number} */ micros) => figure(micros / rows);
  const groups = [...groupBy(busy)]
    .map(([group, members]) => ({ group, micros: sum(members) }))
    .sort((a, b) => b.micros - a.micros);
  const large = groups.filter(({ micros }) => micros >= leastShare * total);
  const rest = total - large.reduce((micros, group) => micros + group.micros, 0);
  const top = [...busy].sort((a, b) => b.micros - a.micros).slice(0, 40);
  return [
    `${figure(total / 1e6)} s busy, ${figure(idle / 1e6)} s idle, ${each(total)} µs a row\n`,
    textTable(
      ["modules", "self", "µs a row"],
      [...large, { group: "the rest", micros: rest }].map(({ group, micros }) => [
        group,
        share(micros),
        each(micros),
      ]),
    ),
    textTable(
      ["function", "self", "µs a row", "modules", "place"],
      top.map(({ name, group, place, micros }) => [
        name,
        share(micros),
        each(micros),
        group,
        place,
      ]),
    ),
  ].join("\n");
}

/**
 * The self time of each function, summed over its callers.
 *
 * @param {CpuProfile} profile
 * @returns {Self[]}
 */
function selfTimes({ nodes, samples, timeDeltas }) {
  /** @type {Map<number, number>} */
  const micros = new Map();
  samples.forEach((id, n) => micros.set(id, (micros.get(id) ?? 0) + (timeDeltas[n] ?? 0)));
  /** @type {Map<string, Self>} */
  const selves = new Map();
  for (const { id, callFrame } of nodes) {
    const { functionName, url, lineNumber } = callFrame;
    const key = `${functionName} ${url} ${lineNumber}`;
    const self = selves.get(key) ?? {
      group: groupOf(callFrame),
      // Regular expressions are identified by their whole text.
      name: functionName === "" ? "(anonymous)" : functionName.slice(0, longestName),
      place: url === "" ? "" : `${shortPlace(url)}:${lineNumber + 1}`,
      micros: 0,
    };
    self.micros += micros.get(id) ?? 0;
    selves.set(key, self);
  }
  return [...selves.values()];
}

/**
 * The group of a function's module: a folder of src, a package, Node.js or V8.
 *
 * @param {CallFrame} frame
 */
function groupOf({ functionName, url }) {
  if (functionName === "(idle)") return "(idle)";
  if (functionName === "(garbage collector)") return "garbage collection";
  if (functionName === "(program)") return "native code outside of calls";
  if (url.startsWith("node:")) return "node";
  if (url.startsWith("wasm:")) return "undici (llhttp)";
  const [, packageName] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (packageName !== undefined) return packageName;
  const [, folder] = /\/dist\/((?:[^/]+\/)*)[^/]+$/.exec(url) ?? [];
  if (folder !== undefined) return `src/${folder.replace(/\/$/, "")}`.replace(/\/$/, "");
  return url === "" ? "built into V8 and Node.js" : "other";
}

/** @param {string} url */
function shortPlace(url) {
  const [, inPackage] = /.*\/node_modules\/(.+)$/.exec(url) ?? [];
  const [, inDist] = /\/dist\/(.+)$/.exec(url) ?? [];
  return inPackage ?? inDist ?? url;
}

/** @param {readonly Self[]} selves */
function sum(selves) {
  return selves.reduce((total, { micros }) => total + micros, 0);
}

/** @param {readonly Self[]} selves */
function groupBy(selves) {
  /** @type {Map<string, Self[]>} */
  const groups = new Map();
  for (const self of selves) groups.set(self.group, [...(groups.get(self.group) ?? []), self]);
  return groups;
}
