import { indicatorWeight } from "../core/item/indicator.js";
import { columnShare, mostShare } from "./column-share.js";
import { countDelimiters, splitLine } from "./split-line.js";
import type { Delimiter } from "./types.js";

/**
 * What separates the cells of these lines, the first of `candidates` that does so throughout; where
 * several do (`a;b` in a cell of each line), the first that brings out a column of indicators.
 *
 * @returns null when none does
 */
export function sniffDelimiter(
  lines: readonly string[],
  candidates: readonly Delimiter[],
): Delimiter | null {
  const throughout = candidates.filter((delimiter) => separates(lines, delimiter));
  if (throughout.length < 2) return throughout[0] ?? null;
  return throughout.find((delimiter) => hasIndicators(lines, delimiter)) ?? throughout[0] ?? null;
}

/** The first line has it, nearly all lines have it, and half of them as often as each other. */
function separates(lines: readonly string[], delimiter: Delimiter): boolean {
  const counts = lines.map((line) => countDelimiters(line, delimiter));
  if ((counts[0] ?? 0) === 0) return false;
  const having = counts.filter((count) => count > 0);
  if (having.length < counts.length * nearlyAll) return false;
  // Lines that are items as they stand, such as URLs with commas, must not differ at all.
  if (lines.every((line) => indicatorWeight(line) === 1)) {
    return lines.length > 1 && counts.every((count) => count === counts[0]);
  }
  return having.some((n) => having.filter((count) => count === n).length * 2 >= counts.length);
}

const nearlyAll = 0.8;

function hasIndicators(lines: readonly string[], delimiter: Delimiter): boolean {
  const records = lines.map((line) => splitLine(line, delimiter));
  const width = Math.max(...records.map((cells) => cells.length));
  for (let index = 0; index < width; index++) {
    const share = columnShare(records.map((cells) => cells[index] ?? ""));
    if (share.share >= mostShare) return true;
  }
  return false;
}
