// @ts-check
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInstantService } from "./instant-service.mjs";
import { writeInput } from "./items.mjs";
import { inTurn } from "./rounds.mjs";
import { ratioOf, spreadOf } from "./statistics.mjs";

/**
 * @typedef {import("./measures.mjs").Comparison} Comparison
 * @typedef {import("./measures.mjs").Measure} Measure
 * @typedef {import("./rounds.mjs").Standing} Standing
 * @typedef {import("./run-program.mjs").Run} Run
 * @typedef {import("./statistics.mjs").Spread} Spread
 * @typedef {import("./contestants.mjs").Work} Work
 */

/**
 * Summary of one contestant's runs.
 *
 * @typedef {object} ContestantResult
 * @property {string} name
 * @property {number} rows
 * @property {number} runs
 * @property {boolean} installed
 * @property {Spread | null} seconds
 * @property {Spread | null} rowsPerSecond null without rows
 * @property {Spread | null} cpuSecondsPer1000 per 1,000 rows; per run without rows
 * @property {number | null} peakBytes maximum of all runs
 */

/**
 * @typedef {object} ComparisonResult
 * @property {string} of
 * @property {string} by
 * @property {"rate" | "seconds" | "peakBytes"} what
 * @property {Spread | null} ratio null if one of them is not installed
 * @property {Spread | null} cpuRatio CPU time for the same work: that of `by` ÷ that of `of`
 * @property {string} wanted
 */

/**
 * @typedef {object} MeasureResult
 * @property {string} title
 * @property {readonly ContestantResult[]} contestants
 * @property {readonly ComparisonResult[]} comparisons
 */

/**
 * Takes one measure, in a temporary folder with a service of its own.
 *
 * @param {Measure} measure
 * @param {{ rows: number | null, repeat: number, concurrency: number, signal: AbortSignal, onRun:
 *   (text: string) => void }} settings
 * @returns {Promise<MeasureResult>}
 */
export async function runMeasure(measure, settings) {
  const rows = settings.rows ?? measure.rows ?? defaultRows;
  const repeat = measure.repeat?.(settings.repeat) ?? settings.repeat;
  return withWork({ ...settings, rows, latencyMs: measure.latencyMs ?? 0 }, async (work) => {
    const contestants = await measure.contestants(work);
    const { folder, signal } = work;
    const standings = await inTurn(contestants, { repeat, folder, signal, onRun: settings.onRun });
    return {
      title: measure.title,
      contestants: standings.map(contestantResult),
      comparisons: measure.comparisons.map((comparison) => compare(comparison, standings)),
    };
  });
}

/** Rows of measures without a number of their own. */
export const defaultRows = 100_000;

/**
 * Sets up the work of a contestant, and removes it afterwards in any case.
 *
 * @template T
 * @param {{ rows: number, concurrency: number, latencyMs: number, signal: AbortSignal }} settings
 * @param {(work: Work) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withWork({ rows, concurrency, latencyMs, signal }, use) {
  const folder = await mkdtemp(join(tmpdir(), "repute-bench-"));
  const service = await startInstantService(latencyMs);
  try {
    const input = join(folder, "input.csv");
    await writeInput(input, rows);
    const { url } = service;
    return await use({ url, folder, input, rows, concurrency, endpoints: ["query"], signal });
  } finally {
    service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * @param {Standing} standing
 * @returns {ContestantResult}
 */
function contestantResult({ contestant: { name, rows, command }, runs }) {
  const spread = (/** @type {(run: Run) => number} */ value) =>
    runs.length === 0 ? null : spreadOf(runs.map(value));
  const peaks = runs.flatMap(({ peakBytes }) => (peakBytes === null ? [] : [peakBytes]));
  return {
    name,
    rows,
    runs: runs.length,
    installed: command !== null,
    seconds: spread((run) => run.seconds),
    rowsPerSecond: rows === 0 ? null : spread((run) => rows / run.seconds),
    cpuSecondsPer1000: spread((run) => cpuPerRow(run, rows) * (rows === 0 ? 1 : 1000)),
    peakBytes: peaks.length === 0 ? null : Math.max(...peaks),
  };
}

/**
 * @param {Comparison} comparison
 * @param {readonly Standing[]} standings
 * @returns {ComparisonResult}
 */
function compare({ of, by, what, fixed, wanted = "" }, standings) {
  const [one, other] = [of, by].map((name) =>
    standings.find(({ contestant }) => contestant.name === name),
  );
  const subject = one?.runs.map((run) => valueOf(what, run, one.contestant.rows)) ?? [];
  const baseline =
    fixed === undefined
      ? (other?.runs.map((run) => valueOf(what, run, other.contestant.rows)) ?? [])
      : subject.map(() => fixed);
  const measured = subject.length > 0 && baseline.length > 0;
  const cpu = (/** @type {Standing | undefined} */ standing) =>
    standing?.runs.map((run) => cpuPerRow(run, standing.contestant.rows)) ?? [];
  return {
    of,
    by,
    what,
    ratio: measured ? ratioOf(subject, baseline) : null,
    cpuRatio:
      measured && fixed === undefined && what === "rate" ? ratioOf(cpu(other), cpu(one)) : null,
    wanted,
  };
}

/**
 * @param {Comparison["what"]} what
 * @param {Run} run
 * @param {number} rows
 */
function valueOf(what, run, rows) {
  if (what === "rate") return rows / run.seconds;
  return what === "seconds" ? run.seconds : (run.peakBytes ?? Number.NaN);
}

/**
 * @param {Run} run
 * @param {number} rows
 */
function cpuPerRow(run, rows) {
  return run.cpuSeconds / Math.max(1, rows);
}
