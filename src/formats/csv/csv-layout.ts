import { UsageError } from "../../core/errors.js";
import { indicatorWeight } from "../../core/item/recognise.js";
import { columnShare, mostShare, settleColumns } from "../columns/choose-column.js";
import {
  customaryItemColumns,
  matchColumn,
  placeName,
  unknownColumn,
} from "../columns/find-column.js";
import { limits } from "../reading/lines.js";
import type { Sample } from "../reading/sample.js";
import type { Delimiter, InputReading, ItemColumn, ReadOptions } from "../types.js";
import type { CsvRecord } from "./csv-records.js";
import { countDelimiters, scanCells } from "./scan-cells.js";

/** What the columns of a CSV input are called, and which of them hold item and kind. */
export interface CsvLayout extends Pick<InputReading, "header" | "item" | "kind"> {
  readonly columns: readonly string[];
}

type LayoutOptions = Pick<ReadOptions, "header" | "itemColumn" | "kindColumn">;

/**
 * Finds the layout by the flags and the first records, of which no more are read than it takes.
 *
 * @param commentNames the cells of the comment line before the first record
 * @throws UsageError `input_empty`, `column_not_found`, `column_ambiguous`
 */
export async function findLayout(
  input: string,
  records: Sample<CsvRecord>,
  commentNames: readonly string[],
  options: LayoutOptions,
): Promise<CsvLayout> {
  await records.until(() => records.read.length > 0);
  if (records.read.length === 0) return emptyLayout(input, options);
  const draft = (): Draft => draftOf(records.read, commentNames, options);
  const found = await settleColumns(
    {
      input,
      columns() {
        const { names, rows } = draft();
        return names.map((name, index) => ({
          name,
          cells: rows.map(({ cells }) => cells[index] ?? ""),
          neighbours: [index - 1, index + 1].filter((n) => n >= 0 && n < names.length),
        }));
      },
      placeOf: ({ index }) => index,
      named(flag) {
        const { names } = draft();
        const column = matchColumn(names, flag.wanted);
        if (column === null) throw unknownColumn(input, names, flag);
        return column;
      },
      sample: (clear) =>
        records.until(
          () => isEnough(records.read),
          () => draft().rows.length > 0 && clear(),
        ),
      withoutRecords() {
        const { names, rows } = draft();
        return rows.length === 0 ? anyColumn(names) : null;
      },
    },
    options,
  );
  const { names, header } = draft();
  return { columns: names, header, ...found };
}

/** A sample of `sampleRecords` rows and a header, or of fewer that are as long as a record may be. */
function isEnough(read: readonly CsvRecord[]): boolean {
  const [first, last] = [read[0], read.at(-1)];
  if (first === undefined || last === undefined) return false;
  return read.length > limits.sampleRecords || last.end - first.end > limits.recordBytes;
}

/** Nothing at all: without a header to miss, no row asks for a column. */
function emptyLayout(input: string, { header, itemColumn }: LayoutOptions): CsvLayout {
  if (header !== false) {
    throw new UsageError("input_empty", `${input} is empty: it has no header and no rows`);
  }
  const item = { name: itemColumn ?? placeName(0), index: 0, by: "flag", sample: null } as const;
  return { columns: [], header: "none", item, kind: null };
}

/** The layout as the records read so far show it. */
interface Draft {
  readonly header: InputReading["header"];
  readonly names: readonly string[];
  readonly rows: readonly CsvRecord[];
}

function draftOf(
  records: readonly CsvRecord[],
  commentNames: readonly string[],
  options: LayoutOptions,
): Draft {
  const first = records[0]!.cells;
  const comment = commentNames.length === first.length && first.length > 1 ? commentNames : null;
  const header = findHeader(records, comment, options);
  const begin = header === "record" ? 1 : 0;
  const unnamed = (): readonly string[] => first.map((_, index) => placeName(index));
  return {
    header,
    names: header === "record" ? first : header === "comment" && comment ? comment : unnamed(),
    rows: records.slice(begin, begin + limits.sampleRecords),
  };
}

/** A first record with an indicator where the others have theirs is a row. */
function findHeader(
  records: readonly CsvRecord[],
  commentNames: readonly string[] | null,
  { header, itemColumn }: LayoutOptions,
): InputReading["header"] {
  if (header !== null) return header ? "record" : "none";
  const first = records[0]!.cells;
  const unnamed = commentNames === null ? "none" : "comment";
  if (itemColumn !== null) {
    if (matchColumn(first, itemColumn) !== null) return "record";
    if (commentNames !== null && matchColumn(commentNames, itemColumn) !== null) return "comment";
  }
  return isRow(records) ? unnamed : "record";
}

function isRow([first, ...others]: readonly CsvRecord[]): boolean {
  const rows = others.slice(0, limits.sampleRecords);
  return first!.cells.some((cell, index) => {
    if (indicatorWeight(cell) < 1 || fieldName.test(cell.trim())) return false;
    if (rows.length === 0) return true;
    return columnShare(rows.map(({ cells }) => cells[index] ?? "")).share >= mostShare;
  });
}

/** Names of the Elastic Common Schema whose last label is a top-level domain as well. */
const fieldName =
  /^(?:source|destination|client|server|host|user|url|dns|email|file|observer|threat|indicator|network|agent|event|process|log|data_stream)(?:\.[a-z_]+)+$/;

/** A header and no rows: any column will do. */
function anyColumn(columns: readonly string[]): ItemColumn {
  const usual = customaryItemColumns
    .map((name) => matchColumn(columns, name))
    .find((column) => column !== null);
  const column = usual ?? { name: columns[0]!, index: 0 };
  return { ...column, by: "name", sample: null };
}

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
