// @ts-check
import { readFile, writeFile } from "node:fs/promises";

/**
 * The ratios, as Markdown.
 *
 * @param {readonly import("./run-measure.mjs").MeasureResult[]} results
 */
export function ratioTable(results) {
  const ratios = results.flatMap(({ title, contestants, comparisons }) =>
    comparisons.map(({ of, by, what, ratio, cpuRatio, wanted }) => {
      const { rowsPerSecond, peakBytes } = contestants.find(({ name }) => name === of) ?? {};
      const pair = `${of} ÷ ${by}${what === "rate" ? "" : `, ${names[what]}`}`;
      const absolute = [rowsPerSecond, peakBytes && peakBytes / 2 ** 20];
      const cells = [title, pair, withRange(ratio), cpuRatio && withRange(cpuRatio)];
      return [...cells, wanted, ...absolute.map((value) => value && figure(value))];
    }),
  );
  const head = ["Measure", "Ratio of", "Ratio", "CPU ratio", "Target", "Rows/s", "Peak MiB"];
  return markdown(head, ratios);
}

/**
 * Writes the ratios and where the processor's time goes into a page, between its marks.
 *
 * @param {string} path
 * @param {string} measured the machine and the ratios
 * @param {readonly [part: string, micros: number][]} micros
 */
export async function writePage(path, measured, micros) {
  const total = micros.reduce((sum, [, each]) => sum + each, 0);
  const text = [
    measured,
    `${figure(total)} µs of processor time a row (\`csv\`, all threads):`,
    markdown(
      ["Part", "µs a row", "Share"],
      micros.map(([part, each]) => [part, figure(each), `${Math.round((100 * each) / total)}%`]),
    ),
  ].join("\n\n");
  const page = await readFile(path, "utf8");
  const marked = /(<!-- measured -->\n)[^]*?(\n<!-- end -->)/;
  await writeFile(
    path,
    page.replace(marked, (_, begin, end) => `${begin}\n${text}\n${end}`),
  );
}

/**
 * @param {readonly string[]} head
 * @param {readonly (readonly (string | number | null | undefined)[])[]} rows
 */
function markdown(head, rows) {
  return [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell ?? "").join(" | ")} |`)
    .join("\n");
}

const names = { seconds: "wall time", peakBytes: "peak memory" };

/** @param {import("./run-measure.mjs").Spread} spread */
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
