// @ts-check
import { spawnSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { itemAt } from "./items.mjs";

/**
 * A program that does a piece of work, and the amount of it.
 *
 * @typedef {object} Contestant
 * @property {string} name
 * @property {number} rows
 * @property {readonly string[] | null} command null if it is not installed
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

/** The same program as compiled by tsc, one module per file. */
export const unbundledProgram = place("dist/cli/main.js");

/** Far above what any machine reaches: the pace is active but never delays a request. */
const unboundRate = "1000000/s";

/**
 * The program with its defaults: order, journal, checkpoints, checks.
 *
 * @param {Work} work
 * @param {{ name?: string, more?: readonly string[] }} [options]
 * @returns {Contestant}
 */
export function repute(work, { name = "repute", more = [] } = {}) {
  const { url, folder, input, rows, concurrency, endpoints } = work;
  const output = `${folder}/repute.csv`;
  return {
    name,
    rows,
    prepare: () => rm(output, { force: true }),
    command: [
      "node",
      reputeProgram,
      "enrich",
      input,
      `--output=${output}`,
      `--intel-url=${url}`,
      `--lookups=${endpoints.join(",")}`,
      `--rate=${unboundRate}`,
      `--concurrency=${concurrency}`,
      "--quiet",
      ...more,
    ],
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
 * Pipelined requests over raw sockets: the limit of the service, not of a client.
 *
 * @param {Work} work
 * @returns {Contestant}
 */
export function raw({ url, rows, concurrency }) {
  const program = place("test/bench/peers/raw.mjs");
  return {
    name: "raw",
    rows,
    command: ["node", program, url, String(rows), String(concurrency), "16"],
  };
}

/**
 * csv-parse, p-limit, fetch and csv-stringify.
 *
 * @param {Work} work
 * @returns {Contestant}
 */
export function script(work) {
  return fileToFile("script", "node", place("test/bench/peers/script.mjs"), work);
}

/**
 * asyncio and aiohttp.
 *
 * @param {Work} work
 * @returns {Contestant}
 */
export function python(work) {
  const found = ["python3", "/usr/bin/python3"].find((program) =>
    succeeds(program, ["-c", "import aiohttp"]),
  );
  return fileToFile("python", found ?? null, place("test/bench/peers/script.py"), work);
}

/**
 * `curl --parallel` with the addresses in a file, which only fetches.
 *
 * @param {Work} work
 * @returns {Promise<Contestant>}
 */
export async function curl({ url, folder, rows, concurrency }) {
  const config = `${folder}/curl.config`;
  const installed = succeeds("curl", ["--parallel", "--version"]);
  if (installed) {
    const line = (/** @type {number} */ n) => `url="${url}/query/${itemAt(n)}"\n`;
    const lines = Array.from({ length: rows }, (_, n) => line(n));
    await pipeline(Readable.from(lines), createWriteStream(config));
  }
  const options = ["--silent", "--show-error", "--noproxy", "*", "--globoff", "--config", config];
  const command = ["curl", "--parallel", "--parallel-max", String(concurrency), ...options];
  return { name: "curl", rows, command: installed ? command : null };
}

/**
 * @param {string} name
 * @param {string | null} program
 * @param {string} file
 * @param {Work} work
 * @returns {Contestant}
 */
function fileToFile(name, program, file, { url, folder, input, rows, concurrency }) {
  const output = `${folder}/${name}.csv`;
  return {
    name,
    rows,
    prepare: () => rm(output, { force: true }),
    command: program === null ? null : [program, file, url, input, output, String(concurrency)],
  };
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 */
function succeeds(program, args) {
  return spawnSync(program, args, { stdio: "ignore" }).status === 0;
}
