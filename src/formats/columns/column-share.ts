import { indicatorWeight } from "../../core/item/indicator.js";
import { isPublishedKind } from "../../core/item/kind-names.js";
import type { ColumnSample } from "../types.js";

/** The sampled cells of a column, one a record; null where there is something that is not text. */
export type SampledCells = readonly (string | null)[];

/** Share that a column must have to be taken. */
export const mostShare = 0.5;

/**
 * How much of a column's cells are indicators. Empty cells do not count.
 *
 * @param labels a neighbour's cells: what stands beside the name of a kind that publishers list
 * (`user_account`, `tool`) counts as an indicator, whatever it is
 */
export function columnShare(
  cells: SampledCells,
  labels: readonly SampledCells[] = [],
): ColumnSample {
  let filled = 0;
  let indicators = 0;
  let sum = 0;
  cells.forEach((cell, row) => {
    if (cell?.trim() === "") return;
    filled += 1;
    const labelled = labels.some((column) => isPublishedKind(column[row]?.trim() ?? ""));
    const weight = cell === null ? 0 : labelled ? 1 : weightOf(cell);
    if (weight > 0) indicators += 1;
    sum += weight;
  });
  return { cells: filled, indicators, share: filled === 0 ? 0 : sum / filled };
}

/** A longer cell is prose, or a file. */
const longestCell = 8192;

function weightOf(cell: string): number {
  return cell.length > longestCell ? 0 : indicatorWeight(cell);
}
