import { indicatorWeight } from "../../core/item/indicator.js";
import { UsageError } from "../../core/errors.js";
import {
  chooseItemColumn,
  chooseKindColumn,
  columnShares,
  isKindName,
  type ItemChoice,
  type SampledColumn,
} from "../columns/choose-column.js";
import { noItemColumn, unknownColumn } from "../columns/find-column.js";
import { columnShare, mostShare } from "../columns/choose-column.js";
import type { CsvRecord } from "./csv-records.js";
import { customaryItemColumns, matchColumn, placeName } from "../columns/find-column.js";
import { limits } from "../reading/limits.js";
import type { Sample } from "../reading/sample.js";
import type { InputReading, ItemColumn, KindColumn, ReadOptions } from "../types.js";

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
  const draft = (): Draft => new Draft(records.read, commentNames, options);
  if (draft().needsSample) {
    await records.until(
      () => isEnough(records.read),
      () => draft().isClear,
    );
  }
  return draft().settle(input, records.ended);
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
class Draft {
  readonly #options: LayoutOptions;
  readonly #header: InputReading["header"];
  readonly #columns: readonly string[];
  readonly #rows: readonly CsvRecord[];

  constructor(
    records: readonly CsvRecord[],
    commentNames: readonly string[],
    options: LayoutOptions,
  ) {
    const first = records[0]!.cells;
    const names = commentNames.length === first.length && first.length > 1 ? commentNames : null;
    this.#options = options;
    this.#header = findHeader(records, names, options);
    if (this.#header === "record") this.#columns = first;
    else if (this.#header === "comment" && names !== null) this.#columns = names;
    else this.#columns = first.map((_, index) => placeName(index));
    const begin = this.#header === "record" ? 1 : 0;
    this.#rows = records.slice(begin, begin + limits.sampleRecords);
  }

  /** Flags may say it all; a column beside the item's that is called like one of kinds is looked at. */
  get needsSample(): boolean {
    const { itemColumn, kindColumn } = this.#options;
    if (itemColumn === null) return true;
    const index = matchColumn(this.#columns, itemColumn)?.index ?? -1;
    return (
      kindColumn === null &&
      index >= 0 &&
      beside(index, this.#columns.length).some((n) => isKindName(this.#columns[n]!))
    );
  }

  get isClear(): boolean {
    if (this.#rows.length === 0) return false;
    return this.#options.itemColumn !== null || this.#choose().item !== null;
  }

  settle(input: string, ended: boolean): CsvLayout {
    const item = this.#item(input, ended);
    const kind = this.#kind(input, item);
    return { columns: this.#columns, header: this.#header, item, kind };
  }

  #item(input: string, ended: boolean): ItemColumn {
    const { itemColumn } = this.#options;
    if (itemColumn !== null) {
      return { ...this.#named(input, "--item-column", itemColumn), by: "flag", sample: null };
    }
    if (ended && this.#rows.length === 0) return withoutRows(this.#columns);
    const { item, problem } = this.#choose();
    if (problem !== null) throw noItemColumn(input, columnShares(this.#sample()), problem);
    return item;
  }

  #kind(input: string, item: ItemColumn): KindColumn | null {
    const { itemColumn, kindColumn } = this.#options;
    if (kindColumn !== null) {
      return { ...this.#named(input, "--kind-column", kindColumn), by: "flag" };
    }
    return itemColumn !== null && !this.needsSample
      ? null
      : chooseKindColumn(this.#sample(), item.index);
  }

  #named(
    input: string,
    flag: "--item-column" | "--kind-column",
    wanted: string,
  ): { name: string; index: number } {
    const found = matchColumn(this.#columns, wanted);
    if (found === null) throw unknownColumn(input, this.#columns, { flag, wanted });
    return found;
  }

  #choose(): ItemChoice {
    return chooseItemColumn(this.#sample());
  }

  #sample(): readonly SampledColumn[] {
    return this.#columns.map((name, index) => ({
      name,
      cells: this.#rows.map(({ cells }) => cells[index] ?? ""),
      neighbours: beside(index, this.#columns.length),
    }));
  }
}

/** What names the columns. A first record with an indicator where the others have theirs is a row. */
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
function withoutRows(columns: readonly string[]): ItemColumn {
  const usual = customaryItemColumns
    .map((name) => matchColumn(columns, name))
    .find((column) => column !== null);
  const column = usual ?? { name: columns[0]!, index: 0 };
  return { ...column, by: "name", sample: null };
}

function beside(index: number, columns: number): readonly number[] {
  return [index - 1, index + 1].filter((neighbour) => neighbour >= 0 && neighbour < columns);
}
