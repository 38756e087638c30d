// @ts-check

/** @typedef {import("./statistics.mjs").Spread} Spread */

/**
 * Prints the ratios, then the measurements behind them.
 *
 * @param {readonly import("./run-measure.mjs").MeasureResult[]} results
 */
export function reportMeasures(results) {
  console.table(
    results.flatMap(({ title, comparisons }) =>
      comparisons.map(({ of, by, what, ratio, cpuRatio, wanted }) => ({
        measure: title,
        "ratio of": `${of} ÷ ${by}${what === "rate" ? "" : `, ${names[what]}`}`,
        ratio: withRange(ratio),
        "CPU ratio": cpuRatio === null ? "" : withRange(cpuRatio),
        wanted,
      })),
    ),
  );
  console.table(
    results.flatMap(({ title, contestants }) =>
      contestants.map((it) => ({
        measure: title,
        program: it.name,
        rows: it.rows,
        runs: it.runs,
        seconds: withRange(it.seconds),
        "rows/s": it.rowsPerSecond === null ? "" : figure(it.rowsPerSecond.median),
        "CPU s per 1,000 rows": withRange(it.cpuSecondsPer1000),
        "peak MiB": it.peakBytes === null ? "" : figure(it.peakBytes / 2 ** 20),
      })),
    ),
  );
}

const names = { seconds: "wall time", peakBytes: "peak memory" };

/** @param {Spread} spread */
function withRange({ median, least, most }) {
  const range = least === most ? "" : ` (${figure(least)}–${figure(most)})`;
  return `${figure(median)}${range}`;
}

/**
 * A number with three significant digits and thousands separators: 0.583, 7.61, 24,800.
 *
 * @param {number} value
 */
function figure(value) {
  return Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 4 });
}
