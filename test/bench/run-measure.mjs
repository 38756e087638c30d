// @ts-check
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startInstantService } from "./instant-service.mjs";
import { writeInput } from "./items.mjs";
import { runProgram } from "./run-program.mjs";

/**
 * @typedef {import("./measures.mjs").Comparison} Comparison
 * @typedef {import("./measures.mjs").Measure} Measure
 * @typedef {import("./run-program.mjs").Run} Run
 * @typedef {import("./contestants.mjs").Work} Work
 */

/**
 * A contestant and its runs, one per round.
 *
 * @typedef {{ contestant: import("./contestants.mjs").Contestant, runs: Run[] }} Standing
 */

/** @typedef {Awaited<ReturnType<typeof runMeasure>>} MeasureResult */

/**
 * Takes one measure, in a temporary folder with a service of its own.
 *
 * @param {Measure} measure
 * @param {{ rows: number | null, repeat: number, concurrency: number, signal: AbortSignal, onRun:
 *   (text: string) => void }} settings
 */
export async function runMeasure(measure, settings) {
  const rows = settings.rows ?? measure.rows ?? defaultRows;
  const repeat = measure.repeat?.(settings.repeat) ?? settings.repeat;
  return withWork({ ...settings, rows, latencyMs: measure.latencyMs ?? 0 }, async (work) => {
    const contestants = await measure.contestants(work);
    const standings = await inTurn(contestants, work, repeat, settings.onRun);
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
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Alternates the contestants, A B A B …, so that other load on the machine affects all of them.
 *
 * @param {readonly import("./contestants.mjs").Contestant[]} contestants
 * @param {Work} work
 * @param {number} repeat
 * @param {(text: string) => void} onRun
 */
async function inTurn(contestants, { folder, signal }, repeat, onRun) {
  /** @type {Standing[]} */
  const standings = contestants.map((contestant) => ({ contestant, runs: [] }));
  for (let round = 1; round <= repeat; round++) {
    for (const { contestant, runs } of standings) {
      const { name, command, peak = true, prepare } = contestant;
      onRun(`${name}, ${round} of ${repeat}`);
      await prepare?.();
      runs.push(await runProgram(command, { folder, signal, peak }));
    }
  }
  return standings;
}

/** @param {Standing} standing */
function contestantResult({ contestant: { name, rows }, runs }) {
  const peaks = runs.flatMap(({ peakBytes }) => (peakBytes === null ? [] : [peakBytes]));
  return {
    name,
    rowsPerSecond: rows === 0 ? null : spreadOf(runs.map((run) => rows / run.seconds)).median,
    peakBytes: peaks.length === 0 ? null : Math.max(...peaks),
  };
}

/**
 * @param {Comparison} comparison
 * @param {readonly Standing[]} standings
 */
function compare({ of, by, what, fixed, wanted = "" }, standings) {
  const valuesOf = (
    /** @type {string} */ name,
    /** @type {(run: Run, rows: number) => number} */ value,
  ) =>
    standings
      .filter(({ contestant }) => contestant.name === name)
      .flatMap(({ contestant: { rows }, runs }) => runs.map((run) => value(run, rows)));
  const measured = (/** @type {Run} */ run, /** @type {number} */ rows) => {
    if (what === "rate") return rows / run.seconds;
    return what === "seconds" ? run.seconds : (run.peakBytes ?? Number.NaN);
  };
  const subject = valuesOf(of, measured);
  const baseline = fixed === undefined ? valuesOf(by, measured) : subject.map(() => fixed);
  /** CPU time for the same work: that of `by` ÷ that of `of`. */
  const cpuRatio =
    fixed === undefined && what === "rate"
      ? ratioOf(valuesOf(by, cpuPerRow), valuesOf(of, cpuPerRow))
      : null;
  return { of, by, what, ratio: ratioOf(subject, baseline), cpuRatio, wanted };
}

/**
 * @param {Run} run
 * @param {number} rows
 */
function cpuPerRow(run, rows) {
  return run.cpuSeconds / Math.max(1, rows);
}

/** @typedef {ReturnType<typeof spreadOf>} Spread */

/**
 * Median and range of repeated measurements.
 *
 * @param {readonly number[]} values at least one
 */
function spreadOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const [least, most] = [sorted[0], sorted.at(-1)];
  if (least === undefined || most === undefined) throw new Error("no values to take the middle of");
  const upper = Math.floor(sorted.length / 2);
  const lower = sorted.length % 2 === 0 ? upper - 1 : upper;
  return { median: ((sorted[lower] ?? 0) + (sorted[upper] ?? 0)) / 2, least, most };
}

/**
 * The ratios of values measured in alternation, pair by pair. Both of a pair are close in time, so
 * other load on the machine affects both.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline as many
 */
function ratioOf(values, baseline) {
  return spreadOf(values.map((value, index) => value / (baseline[index] ?? Number.NaN)));
}
