// @ts-check
import { figure, textTable } from "./text-table.mjs";

/**
 * @typedef {import("./run-measure.mjs").MeasureResult} MeasureResult
 * @typedef {import("./statistics.mjs").Spread} Spread
 */

/**
 * The report: ratios, then the measurements behind them.
 *
 * @param {readonly MeasureResult[]} results
 */
export function reportMeasures(results) {
  const ratios = results.flatMap(({ title, comparisons }) =>
    comparisons.map(({ of, by, what, ratio, cpuRatio, wanted }) => [
      title,
      `${of} ÷ ${by}${what === "rate" ? "" : `, ${names[what]}`}`,
      withRange(ratio),
      cpuRatio === null ? "" : withRange(cpuRatio),
      wanted,
    ]),
  );
  const runs = results.flatMap(({ title, contestants }) =>
    contestants.map((it) => [
      title,
      it.name,
      it.rows === 0 ? "" : it.rows.toLocaleString("en-US"),
      String(it.runs),
      withRange(it.seconds),
      it.rowsPerSecond === null ? "" : figure(it.rowsPerSecond.median),
      withRange(it.cpuSecondsPer1000),
      it.peakBytes === null ? "" : figure(it.peakBytes / 2 ** 20),
    ]),
  );
  const ratioTable = textTable(["measure", "ratio of", "ratio", "CPU ratio", "wanted"], ratios);
  const runTable = textTable(
    ["measure", "program", "rows", "runs", "seconds", "rows/s", "CPU s per 1,000 rows", "peak MiB"],
    runs,
  );
  return `${ratioTable}\n${runTable}`;
}

const names = { seconds: "wall time", peakBytes: "peak memory" };

/** @param {Spread} spread */
function withRange({ median, least, most }) {
  const range = least === most ? "" : ` (${figure(least)}–${figure(most)})`;
  return `${figure(median)}${range}`;
}
