// @ts-check

/**
 * What a number of repetitions came to.
 *
 * @typedef {object} Spread
 * @property {number} median
 * @property {number} least
 * @property {number} most
 */

/**
 * The middle of the values and how far they lie apart.
 *
 * @param {readonly number[]} values one at least
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
 * The ratios of values that were measured in turn: the first of one against the first of the other.
 * Pairs are near each other in time, so that what else the machine does touches both.
 *
 * @param {readonly number[]} values
 * @param {readonly number[]} baseline as many
 * @returns {Spread}
 */
export function ratioOf(values, baseline) {
  return spreadOf(values.map((value, index) => value / (baseline[index] ?? Number.NaN)));
}
