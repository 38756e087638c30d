import { shownColumn } from "../../formats/columns/find-column.js";
import type { FilePosition } from "../types.js";

/** Files named in a notice; more are counted. */
const mostNamed = 3;

/** Tells which column each of several files uses: one line per column, the most frequent first. */
export function choiceNotices(files: readonly FilePosition[]): readonly string[] {
  const byColumn = new Map<string, FilePosition[]>();
  for (const file of files) {
    const { item, format } = file.reading;
    if (format === "text") continue;
    const column = shownColumn(item);
    byColumn.set(column, [...(byColumn.get(column) ?? []), file]);
  }
  const groups = [...byColumn].toSorted(([, a], [, b]) => b.length - a.length);
  return groups.map(([column, group]) => {
    const where =
      group.length > mostNamed ? `${group.length} files` : group.map(({ name }) => name).join(", ");
    return `using column ${column} in ${where}${sampled(group)}`;
  });
}

function sampled(group: readonly FilePosition[]): string {
  let cells = 0;
  let indicators = 0;
  for (const { reading } of group) {
    cells += reading.item.sample?.cells ?? 0;
    indicators += reading.item.sample?.indicators ?? 0;
  }
  return cells === 0 ? "" : ` (${indicators} of ${cells} sampled cells are indicators)`;
}
