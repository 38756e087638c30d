import { indicatorWeight } from "../../../core/item/recognise.js";
import { type ColumnFlags, findColumns } from "../columns/find-columns.js";
import { customaryItemColumns } from "../columns/column-words.js";
import { columnShare } from "../columns/rate-columns.js";
import { matchColumn, minShare, positionalName, unknownColumn } from "../columns/name-columns.js";
import { limits } from "../reading/lines.js";
import type { Sample } from "../reading/sample.js";
import type { InputReading, ItemColumn, ReadOptions } from "../types.js";
import type { CsvRecord } from "./csv-records.js";
import { type CommentNames, isRuleRecord } from "./header-lines.js";

interface CsvLayout extends Pick<InputReading, "header" | "items" | "kind" | "others"> {
  readonly columns: readonly string[];
}

type LayoutOptions = ColumnFlags & Pick<ReadOptions, "header">;

/**
 * Finds the layout from flags and the first records, reading no more than needed.
 * @param named the names that comments give so many columns; null for none
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findLayout(
  input: string,
  records: Sample<CsvRecord>,
  named: (width: number) => CommentNames | null,
  options: LayoutOptions,
): Promise<CsvLayout> {
  await records.until(() => records.read.length > 0);
  if (records.read.length === 0) return emptyLayout(options.itemColumn);
  let sampled: number = limits.sampleRecords;
  const draft = (): Draft => draftOf(records.read, named, { ...options, sampled });
  const found = await findColumns(
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
      async sample(count, clear) {
        sampled = count;
        await records.until(
          () => isEnough(records.read, count),
          () => draft().rows.length > 0 && clear(),
        );
        return records.read.length > count;
      },
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

/** Whether the sample is complete: so many rows and a header, or fewer but very long ones. */
function isEnough(read: readonly CsvRecord[], count: number): boolean {
  const [first, last] = [read[0], read.at(-1)];
  if (first === undefined || last === undefined) return false;
  return read.length > count || last.end - first.end > limits.recordBytes;
}

function emptyLayout(itemColumn: ReadOptions["itemColumn"]): CsvLayout {
  const [first = positionalName(0), ...others] = [itemColumn ?? []].flat();
  const by = itemColumn === null ? "format" : "flag";
  const itemOf = (name: string): ItemColumn => ({ name, index: 0, by, sample: null });
  const items = [itemOf(first), ...others.map(itemOf)] as const;
  return { columns: [], header: "none", items, kind: null };
}

interface Draft {
  readonly header: InputReading["header"];
  readonly names: readonly string[];
  readonly rows: readonly CsvRecord[];
}

function draftOf(
  records: readonly CsvRecord[],
  named: (width: number) => CommentNames | null,
  options: LayoutOptions & { readonly sampled: number },
): Draft {
  const first = records[0]!.cells;
  const comment = named(first.length);
  const header = findHeader(records, comment, options);
  const below = records[1]?.cells ?? [];
  const begin = header === "record" ? (isRuleRecord(below) ? 2 : 1) : 0;
  const unnamed = (): readonly string[] => first.map((_, index) => positionalName(index));
  return {
    header,
    names:
      header === "record" ? first : header === "comment" && comment ? comment.names : unnamed(),
    rows: records.slice(begin, begin + options.sampled),
  };
}

/** A first record with an indicator is data. */
function findHeader(
  records: readonly CsvRecord[],
  comment: CommentNames | null,
  { header, itemColumn }: LayoutOptions,
): InputReading["header"] {
  if (header !== null) return header ? "record" : "none";
  const first = records[0]!.cells;
  const unnamed = comment === null ? "none" : "comment";
  const wanted = [itemColumn ?? []].flat();
  const hasAny = (names: readonly string[]): boolean =>
    wanted.some((name) => matchColumn(names, name) !== null);
  if (hasAny(first)) return "record";
  if (comment !== null && (comment.isDeclared || hasAny(comment.names))) return "comment";
  return isRow(records) ? unnamed : "record";
}

function isRow([first, ...others]: readonly CsvRecord[]): boolean {
  const rows = others.slice(0, limits.sampleRecords);
  return first!.cells.some((cell, index) => {
    if (indicatorWeight(cell) < 1 || fieldName.test(cell.trim())) return false;
    if (rows.length === 0 || !dottedName.test(cell.trim())) return true;
    const { share, kind } = columnShare(rows.map(({ cells }) => cells[index] ?? ""));
    return share >= minShare && kind === "domain";
  });
}

/** Field names of the Elastic Common Schema that end in a top-level domain. */
const fieldName =
  /^(?:source|destination|client|server|host|user|url|dns|email|file|observer|threat|indicator|network|agent|event|process|log|data_stream)(?:\.[a-z_]+)+$/;

/** A name of a field or of a host, which only the cells below it tell apart. */
const dottedName =
  /^[a-z_]\w*(?:\.[a-z_]\w*)*\.(?:name|id|email|domains?|info|date|city|country|zip|host|link|page|post|network|group|report|security|software|systems|zone|in|is|to)$/i;

/** The item column of an input with a header and no rows: any column will do. */
function anyColumn(columns: readonly string[]): ItemColumn {
  const usual = customaryItemColumns
    .map((name) => matchColumn(columns, name))
    .find((column) => column !== null);
  const column = usual ?? { name: columns[0]!, index: 0 };
  return { ...column, by: "name", sample: null };
}
