import { indicatorWeight } from "../../core/item/indicator.js";
import { columnShare, mostShare } from "../columns/choose-column.js";
import { countDelimiters, scanCells } from "./scan-cells.js";
import type { Delimiter } from "../types.js";

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
  const records = joinQuoted(lines);
  const throughout = candidates.filter((delimiter) => separates(records, delimiter));
  const [first = null, second] = throughout;
  if (second === undefined) return first;
  return throughout.find((delimiter) => hasIndicators(records, delimiter)) ?? first;
}

/** Lines that a quoted cell joins, as one; a quote that nothing closes is text. */
function joinQuoted(lines: readonly string[]): readonly string[] {
  const records: string[] = [];
  let open: string[] = [];
  for (const line of lines) {
    const quotes = line.split('"').length - 1;
    if (open.length === 0 && quotes % 2 === 0) records.push(line);
    else open.push(line);
    if (open.length > 1 && quotes % 2 === 1) {
      records.push(open.join("\n"));
      open = [];
    }
  }
  return [...records, ...open];
}

/** The first line has it, nearly all lines have it, and half of them as often as each other. */
function separates(lines: readonly string[], delimiter: Delimiter): boolean {
  const counts = lines.map((line) => countDelimiters(line, delimiter));
  if ((counts[0] ?? 0) === 0 || lines.every((line) => isOneCell(line, delimiter))) return false;
  const having = counts.filter((count) => count > 0);
  if (having.length < counts.length * nearlyAll) return false;
  // Lines that are items as they stand, such as URLs with commas, must not differ at all.
  if (lines.every((line) => indicatorWeight(line) === 1)) {
    return lines.length > 1 && counts.every((count) => count === counts[0]);
  }
  return having.some((n) => having.filter((count) => count === n).length * 2 >= counts.length);
}

/** A list of items may have a comma behind each. */
function isOneCell(line: string, delimiter: Delimiter): boolean {
  return scanCells(line, { delimiter, spaced: true })
    .cells.slice(1)
    .every((cell) => cell.trim() === "");
}

const nearlyAll = 0.8;

function hasIndicators(lines: readonly string[], delimiter: Delimiter): boolean {
  const records = lines.map((line) => scanCells(line, { delimiter, spaced: true }).cells);
  const width = Math.max(...records.map((cells) => cells.length));
  for (let index = 0; index < width; index++) {
    const share = columnShare(records.map((cells) => cells[index] ?? ""));
    if (share.share >= mostShare) return true;
  }
  return false;
}
