// @ts-check
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/**
 * A program that does a piece of work, and the amount of it.
 *
 * @typedef {object} Contestant
 * @property {string} name
 * @property {number} rows
 * @property {readonly string[]} command
 * @property {boolean} [peak] whether to measure its peak memory. Default true
 * @property {() => Promise<void>} [prepare] runs before each run, not measured
 */

/**
 * Work on a generated input.
 *
 * @typedef {object} Work
 * @property {string} url of the service
 * @property {string} folder
 * @property {string} input path of a CSV file with the column `ip`
 * @property {number} rows
 * @property {number} concurrency
 * @property {readonly string[]} endpoints requested for each item
 * @property {AbortSignal} signal ends the running programs
 */

/** @param {string} path relative to the root of the repository */
const place = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const reputeProgram = place("dist/program/repute.js");

/** The program as compiled, a module a file. */
export const unbundledProgram = place("dist/cli/main.js");

/** Far above what any machine reaches: the pace is active but never delays a request. */
const unboundRate = "1000000/s";

/**
 * The program with its defaults: order, journal, checkpoints, checks.
 *
 * @param {Work} work
 * @param {{ name?: string, more?: readonly string[], output?: string, pace?: readonly string[] }} [options]
 * @returns {Contestant}
 */
export function repute(work, options = {}) {
  const { url, input, rows, concurrency, endpoints } = work;
  const { name = "repute", more = [], output = `${work.folder}/repute.csv` } = options;
  const { pace = [`--rate=${unboundRate}`, `--concurrency=${concurrency}`] } = options;
  const asked = [`--intel-url=${url}`, `--lookups=${endpoints.join(",")}`, ...pace, "--quiet"];
  return {
    name,
    rows,
    prepare: () => rm(output, { force: true }),
    command: ["node", reputeProgram, "enrich", input, `--output=${output}`, ...asked, ...more],
  };
}

/**
 * undici's `Pool.request` and `body.json()` with as many connections, and nothing else.
 *
 * @param {Work} work
 * @returns {Contestant}
 */
export function bare({ url, rows, concurrency, endpoints }) {
  const program = place("test/bench/peers/bare.mjs");
  return {
    name: "bare",
    rows,
    command: ["node", program, url, String(rows), String(concurrency), ...endpoints],
  };
}

/**
 * csv-parse, p-limit, fetch and csv-stringify.
 *
 * @param {Work} work
 * @returns {Contestant}
 */
export function script({ url, folder, input, rows, concurrency }) {
  const output = `${folder}/script.csv`;
  const program = place("test/bench/peers/script.mjs");
  return {
    name: "script",
    rows,
    prepare: () => rm(output, { force: true }),
    command: ["node", program, url, input, output, String(concurrency)],
  };
}
