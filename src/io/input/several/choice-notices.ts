import { columnName, othersNotice, shownColumns } from "../../formats/columns/name-columns.js";
import { skippedNotice } from "../../formats/csv/find-preamble.js";
import type { ColumnPlace } from "../../formats/types.js";
import type { FilePosition } from "../types.js";

const mostNamed = 3;

/** Tells which column each of several files uses: one line per column, the most frequent first. */
export function choiceNotices(files: readonly FilePosition[]): readonly string[] {
  const byColumn = new Map<string, FilePosition[]>();
  for (const file of files) {
    const { items, format } = file.reading;
    if (format === "text") continue;
    const column = shownColumns(items);
    byColumn.set(column, [...(byColumn.get(column) ?? []), file]);
  }
  const groups = [...byColumn].toSorted(([, a], [, b]) => b.length - a.length);
  const skips = files.flatMap(({ name, reading }) => skippedNotice(reading, name) ?? []);
  const choices = groups.map(([column, group]) => {
    const where =
      group.length > mostNamed ? `${group.length} files` : group.map(({ name }) => name).join(", ");
    return `using column ${column} in ${where}${sampled(group)}`;
  });
  return [...skips, ...choices, ...othersIn(files)];
}

/** One line for the other columns with items, of all files. */
function othersIn(files: readonly FilePosition[]): readonly string[] {
  const chosen = new Map<string, ColumnPlace>();
  const rows = new Map<string, number>();
  let sampled = 0;
  for (const { items, others } of files.map(({ reading }) => reading)) {
    if (others === undefined) continue;
    for (const item of items) chosen.set(columnName(item), item);
    for (const column of others.columns) {
      const name = columnName(column);
      rows.set(name, (rows.get(name) ?? 0) + column.rows);
    }
    sampled += others.sampled;
  }
  const columns = Array.from(rows, ([name, found]) => ({ name, index: 0, rows: found }));
  const unchosen = columns.filter(({ name }) => !chosen.has(name));
  return unchosen.length === 0
    ? []
    : [othersNotice([...chosen.values()], { sampled, columns: unchosen })];
}

function sampled(group: readonly FilePosition[]): string {
  let cells = 0;
  let indicators = 0;
  for (const { reading } of group) {
    const [{ sample }] = reading.items;
    cells += sample?.cells ?? 0;
    indicators += sample?.indicators ?? 0;
  }
  return cells === 0 ? "" : ` (${indicators} of ${cells} sampled cells are indicators)`;
}
