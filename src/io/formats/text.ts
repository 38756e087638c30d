import { itemRow, type Row } from "../../core/row.js";
import { namedColumn } from "./columns/name-columns.js";
import { skippedIn } from "./csv/find-header.js";
import { contentLines, type Line, mapLists, type TextBytes } from "./reading/lines.js";
import { Sample } from "./reading/sample.js";
import type { FormatReading, ReadableFormat, ReadOptions } from "./types.js";

/**
 * One item per line. Blank lines and lines that start with `#` after optional spaces are skipped, and
 * the first lines if they start with `;`.
 */
export const text: ReadableFormat = {
  extensions: [],
  read,
};

async function read(bytes: TextBytes, options: ReadOptions): Promise<FormatReading> {
  const settled = options.startAt?.reading;
  if (options.isOneOfSeveral !== true) checkColumns(bytes.name, options);
  const comment = settled?.comment ?? options.comment;
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
  const sample = new Sample(lines);
  // What is skipped before the first item is known with it.
  await sample.until(() => sample.read.length > 0);
  return {
    columns,
    reading: settled ?? { ...reading, comment, ...skippedIn(skipped) },
    rows: mapLists(sample.all(), rowMaker()),
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
  for (const wanted of [itemColumn ?? []].flat()) {
    namedColumn(name, columns, { flag: "--item-column", wanted });
  }
  if (kindColumn === undefined) return;
  namedColumn(name, columns, { flag: "--kind-column", wanted: kindColumn });
}

function rowMaker(): (line: Line) => Row {
  let number = 0;
  return ({ text, size }) => itemRow(text, ++number, size);
}
