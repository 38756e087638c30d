// @ts-check

/**
 * Summary of repeated measurements.
 *
 * @typedef {object} Spread
 * @property {number} median
 * @property {number} least
 * @property {number} most
 */

/**
 * Median and range of the values.
 *
 * @param {readonly number[]} values at least one
 * @returns {Spread}
 */
export function spreadOf(values) {
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
 * @returns {Spread}
 */
export function ratioOf(values, baseline) {
  return spreadOf(values.map((value, index) => value / (baseline[index] ?? Number.NaN)));
}
