import type { Row } from "../../core/row.js";
import { unknownColumn } from "../column-errors.js";
import { contentLines } from "./content-lines.js";
import { type ColumnFlag, matchColumn } from "../find-column.js";
import { type Line, readLines } from "../lines.js";
import { type FormatReading, openSource, type Reading } from "../../inputs/open-source.js";
import type { OpenFormat, SourceOptions } from "../../inputs/types.js";

/** One item a line; blank lines and comments (`#` first but for spaces) are left out. */
export const openText: OpenFormat = async (input, options) =>
  openSource(input, options, async (reading) => begin(reading, options));

async function begin(
  { bytes, resume, settled }: Reading,
  options: SourceOptions,
): Promise<FormatReading> {
  checkColumns(bytes.name, options);
  const comment = settled?.reading.comment ?? options.comment;
  const lines = contentLines(
    readLines(bytes, resume?.line ?? 0),
    (text) => startsWithHash(text) || (comment !== null && text.startsWith(comment)),
  );
  return { columns, reading: { ...reading, comment }, rows: readRows(lines, resume?.row ?? 0) };
}

const columns: readonly string[] = ["item"];

const reading = {
  format: "text",
  delimiter: null,
  spaced: false,
  header: "none",
  item: { name: "item", index: 0, by: "format", sample: null },
  kind: null,
} as const;

function checkColumns(name: string, { itemColumn, kindColumn }: SourceOptions): void {
  const check = (flag: ColumnFlag["flag"], wanted: string | null): void => {
    if (wanted !== null && matchColumn(columns, wanted) === null) {
      throw unknownColumn(name, columns, { flag, wanted });
    }
  };
  check("--item-column", itemColumn);
  check("--kind-column", kindColumn);
}

function startsWithHash(text: string): boolean {
  return text.startsWith("#") || text.trimStart().startsWith("#");
}

async function* readRows(
  lists: AsyncIterable<readonly Line[]>,
  rowsBefore: number,
): AsyncGenerator<readonly Row[]> {
  let number = rowsBefore;
  for await (const lines of lists) {
    yield lines.map((line) => {
      number += 1;
      return toRow(line, number);
    });
  }
}

function toRow({ text, number: line, end }: Line, number: number): Row {
  return {
    number,
    line,
    cells: [text],
    extra: null,
    json: null,
    itemText: text,
    kindText: "",
    fault: null,
    end,
    endLine: line,
  };
}
