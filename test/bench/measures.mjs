// @ts-check
import { cp, rename, rm } from "node:fs/promises";
import { bare, repute, reputeProgram, script } from "./contestants.mjs";
import { itemAt, writeInput } from "./items.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * @typedef {import("./contestants.mjs").Contestant} Contestant
 * @typedef {import("./contestants.mjs").Work} Work
 */

/**
 * A ratio to compute between two contestants.
 *
 * @typedef {object} Comparison
 * @property {string} of name of a contestant
 * @property {string} by name of the baseline, or a label for `fixed`
 * @property {"rate" | "seconds" | "peakBytes"} what
 * @property {number} [fixed] rows per second, if the baseline is computed rather than measured
 * @property {string} [wanted] such as "≥ 0.6"
 */

/**
 * @typedef {object} Measure
 * @property {string} title
 * @property {boolean} [long] skipped unless named or `--long` is given
 * @property {(repeat: number) => number} [repeat]
 * @property {number} [rows] its own number of rows
 * @property {number} [latencyMs]
 * @property {(work: Work) => Promise<readonly Contestant[]>} contestants
 * @property {readonly Comparison[]} comparisons
 */

const both = ["query", "quick-check"];

/** Slow peers get this share of the rows: the rate is the same, but the run is shorter. */
const slowShare = 5;

/**
 * A nightly dump, large enough that startup and compilation (1.5 s) are a small part of the 20 s.
 */
const manyRows = 300_000;

const latency = { ms: 50, concurrency: 256 };

/** @type {Readonly<Record<string, Measure>>} */
export const measures = {
  csv: {
    title: "CSV → query → CSV",
    rows: manyRows,
    async contestants(work) {
      const few = { ...work, rows: Math.ceil(work.rows / slowShare) };
      few.input = `${work.folder}/few.csv`;
      await writeInput(few.input, few.rows);
      return [repute(work), bare(work), script(few)];
    },
    comparisons: [
      { of: "repute", by: "bare", what: "rate", wanted: "≥ 0.62, aim 0.75" },
      { of: "repute", by: "script", what: "rate", wanted: "≥ 5.5, aim 6" },
    ],
  },
  lookups: {
    title: "both lookups, two requests a row",
    rows: manyRows,
    async contestants(work) {
      const asking = { ...work, endpoints: both };
      return [repute(asking), bare(asking)];
    },
    comparisons: [{ of: "repute", by: "bare", what: "rate", wanted: "≥ 0.65" }],
  },
  cache: {
    title: "warm cache",
    rows: 120_000,
    async contestants(work) {
      const cached = repute(work, { more: ["--cache", `${work.folder}/cache`] });
      await cached.prepare?.();
      await runProgram(cached.command, work);
      return [cached, bare(work)];
    },
    comparisons: [{ of: "repute", by: "bare", what: "rate", wanted: "≥ 1, aim 1.2" }],
  },
  night: {
    title: "second night, a tenth of the items new",
    rows: 200_000,
    async contestants(work) {
      const second = { ...work, input: `${work.folder}/second.csv` };
      await writeInput(second.input, work.rows, (n) => itemAt(n % 10 === 0 ? work.rows + n : n));
      const [cache, kept] = [`${work.folder}/cache`, `${work.folder}/kept`];
      const more = ["--cache", cache];
      const first = repute(work, { name: "first", more });
      await first.prepare?.();
      await runProgram(first.command, work);
      await rename(cache, kept);
      const from = (/** @type {string | null} */ before) => async () => {
        await first.prepare?.();
        await rm(cache, { recursive: true, force: true });
        if (before !== null) await cp(before, cache, { recursive: true });
      };
      return [
        { ...repute(second, { name: "second", more }), prepare: from(kept) },
        { ...first, prepare: from(null) },
      ];
    },
    comparisons: [{ of: "second", by: "first", what: "rate" }],
  },
  outputs: {
    title: "to Parquet and to a table of DuckDB",
    async contestants(work) {
      const to = (/** @type {string} */ name, /** @type {string} */ output) =>
        repute(work, { name, output });
      const table = `${work.folder}/out.duckdb`;
      return [
        repute(work),
        to("Parquet", `${work.folder}/out.parquet`),
        { ...to("DuckDB", `duckdb:${table}?table=t`), prepare: () => rm(table, { force: true }) },
      ];
    },
    comparisons: ["Parquet", "DuckDB"].map((of) => ({ of, by: "repute", what: "rate" })),
  },
  latency: {
    title: `${latency.ms} ms latency, concurrency ${latency.concurrency}`,
    latencyMs: latency.ms,
    // Large enough that the slow start is a small part of it.
    rows: manyRows,
    repeat: (repeat) => Math.min(3, repeat),
    async contestants(work) {
      const wide = { ...work, concurrency: latency.concurrency };
      return [repute(wide), bare(wide)];
    },
    comparisons: [
      {
        of: "repute",
        by: `${latency.concurrency} / ${latency.ms} ms`,
        fixed: latency.concurrency / (latency.ms / 1000),
        what: "rate",
        wanted: "≥ 0.95",
      },
      { of: "repute", by: "bare", what: "rate" },
    ],
  },
  start: {
    title: "start-up",
    repeat: (repeat) => 4 * repeat,
    contestants: async () => [
      { name: "--version", rows: 0, peak: false, command: ["node", reputeProgram, "--version"] },
      { name: "node -e 0", rows: 0, peak: false, command: ["node", "-e", "0"] },
    ],
    comparisons: [{ of: "--version", by: "node -e 0", what: "seconds", wanted: "≤ 2.5" }],
  },
  memory: {
    title: "peak memory, ten times the rows",
    long: true,
    rows: 5_000_000,
    repeat: () => 1,
    async contestants(work) {
      const tenth = { ...work, rows: Math.ceil(work.rows / 10), input: `${work.folder}/tenth.csv` };
      await writeInput(tenth.input, tenth.rows);
      return [repute(work, { name: "all rows" }), repute(tenth, { name: "a tenth" })];
    },
    comparisons: [
      { of: "all rows", by: "a tenth", what: "peakBytes", wanted: "≤ 1.15, under 256 MiB" },
    ],
  },
};
