const gap = "  ";
/** No column is made narrower than this for the sake of the others. */
const narrowest = 8;

/**
 * Text in columns that line up, under their names, for a terminal. Columns without any value are
 * left out; where a line would be too long the widest columns give way, and what does not fit in
 * its column ends with an ellipsis.
 *
 * @param width characters that a line may have
 */
export function alignedTable(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string {
  const kept = names.map((_, index) => index).filter((index) => rows.some((row) => row[index]));
  const lines = [names, ...rows].map((cells) => kept.map((index) => cells[index] ?? ""));
  const natural = kept.map((_, column) => widest(lines.map((cells) => cells[column] ?? "")));
  const widths = fitted(natural, width - gap.length * (kept.length - 1));
  return lines
    .map((cells) => cells.map((cell, column) => fill(cell, widths[column] ?? 0)))
    .map((cells) => `${cells.join(gap).trimEnd()}\n`)
    .join("");
}

function widest(cells: readonly string[]): number {
  return cells.reduce((most, cell) => Math.max(most, cell.length), 0);
}

/** The largest limit that makes the widths fit, put on the columns that exceed it. */
function fitted(widths: readonly number[], room: number): readonly number[] {
  let limit = Math.max(...widths, narrowest);
  const total = (): number => widths.reduce((sum, wide) => sum + Math.min(wide, limit), 0);
  limit = Math.min(limit, Math.max(room, narrowest));
  while (limit > narrowest && total() > room) limit--;
  return widths.map((wide) => Math.min(wide, limit));
}

function fill(text: string, width: number): string {
  return text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width);
}
