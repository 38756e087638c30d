import { itemRow, type Row } from "../../core/row.js";
import { type ColumnFlag, matchColumn, unknownColumn } from "./columns/name-columns.js";
import { skippedIn } from "./csv/find-preamble.js";
import { contentLines, continued, type Line, mapLists } from "./reading/lines.js";
import type { FormatReading, ReadableFormat, Reading, ReadOptions } from "./types.js";

/**
 * One item per line. Blank lines and lines that start with `#` after optional spaces are skipped, and
 * the first lines if they start with `;`.
 */
export const text: ReadableFormat = {
  extensions: [],
  read,
};

async function read({ bytes, settled }: Reading, options: ReadOptions): Promise<FormatReading> {
  if (options.isOneOfSeveral !== true) checkColumns(bytes.name, options);
  const comment = settled?.reading.comment ?? options.comment;
  let leading = true;
  const skipped: string[] = [];
  const isSkipped = (text: string): boolean => {
    const isComment =
      text.trimStart().startsWith("#") || (comment !== null && text.startsWith(comment));
    leading &&= isComment || text.startsWith(";");
    if (leading) skipped.push(text);
    return isComment || leading;
  };
  const lines = contentLines(bytes, isSkipped);
  const first = await lines.next();
  return {
    columns,
    reading: settled?.reading ?? { ...reading, comment, ...skippedIn(skipped) },
    rows: mapLists(continued(first, lines), rowMaker()),
  };
}

const columns: readonly string[] = ["item"];

const reading = {
  format: "text",
  delimiter: null,
  spaced: false,
  header: "none",
  items: [{ name: "item", index: 0, by: "format", sample: null }],
  kind: null,
} as const;

function checkColumns(name: string, { itemColumn, kindColumn }: ReadOptions): void {
  const check = (flag: ColumnFlag["flag"], wanted: string): void => {
    if (matchColumn(columns, wanted) === null) {
      throw unknownColumn(name, columns, { flag, wanted });
    }
  };
  for (const wanted of [itemColumn ?? []].flat()) check("--item-column", wanted);
  if (kindColumn !== null) check("--kind-column", kindColumn);
}

function rowMaker(): (line: Line) => Row {
  let number = 0;
  return ({ text, size }) => itemRow(text, ++number, size);
}
