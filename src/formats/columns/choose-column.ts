import { isPublishedKind, parseKindName } from "../../core/item/item.js";
import { type ColumnFlag, customaryItemColumns, noItemColumn } from "./find-column.js";
import type {
  ColumnPlace,
  ColumnSample,
  InputReading,
  ItemColumn,
  KindColumn,
  ReadOptions,
} from "../types.js";
import { indicatorWeight } from "../../core/item/recognise.js";

/** A column, or a dotted path of NDJSON, and its cells in the first records. */
export interface SampledColumn {
  readonly name: string;
  readonly cells: SampledCells;
  /** Columns beside it, by their place in the list of all. */
  readonly neighbours: readonly number[];
}

/** A column and what its sample says. */
export interface SharedColumn extends Omit<ItemColumn, "by"> {
  readonly sample: ColumnSample;
}

/** The item column, or why none can be chosen. */
export type ItemChoice =
  | { readonly item: ItemColumn; readonly problem: null }
  | { readonly item: null; readonly problem: "none" | "several" };

/**
 * The first usual name with a share of at least half wins; otherwise the largest share, if it is at
 * least half and no other such column comes within a tenth of it.
 */
export function chooseItemColumn(columns: readonly SampledColumn[]): ItemChoice {
  const usual = usualColumn(columns);
  if (usual !== null) return { item: { ...usual, by: "name" }, problem: null };
  const [first, second] = withoutSparse(
    columnShares(columns).filter(({ sample }) => sample.share >= mostShare),
  ).toSorted((a, b) => b.sample.share - a.sample.share);
  if (first === undefined) return { item: null, problem: "none" };
  if (second !== undefined && first.sample.share - second.sample.share < tenth) {
    return { item: null, problem: "several" };
  }
  return { item: { ...first, by: "share" }, problem: null };
}

/** Every column with its share. */
export function columnShares(columns: readonly SampledColumn[]): readonly SharedColumn[] {
  return columns.map(({ name, cells }, index) => ({ name, index, sample: columnShare(cells) }));
}

/**
 * The neighbour of the item column that names kinds: by its own name or in most of its cells, and
 * with a kind that repute knows in one of them.
 */
export function chooseKindColumn(
  columns: readonly SampledColumn[],
  item: number,
): KindColumn | null {
  for (const index of columns[item]?.neighbours ?? []) {
    const { name, cells } = columns[index]!;
    const words = cells.filter((cell) => cell !== null && cell.trim() !== "") as string[];
    if (!words.some((word) => parseKindName(word) !== null)) continue;
    const published = words.filter((word) => isPublishedKind(word));
    if (isKindName(name) || published.length >= words.length / 2) {
      return { name, index, by: "neighbour" };
    }
  }
  return null;
}

/** Whether a column of this name is likely to name kinds. */
function isKindName(name: string): boolean {
  return kindNames.has(
    name
      .slice(name.lastIndexOf(".") + 1)
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ""),
  );
}

/**
 * A word of a kind column that nobody named: "" where it names no kind of item. Such a column has
 * words for hashes and files as well, which nobody needs to be warned of.
 */
export function knownKind(text: string): string {
  return text === "" || parseKindName(text) === null ? "" : text;
}

/** With some room for what fractions lose: 1 and 0.9 are a tenth apart. */
const tenth = 0.1 + 1e-9;
/** A column that is filled so much less often than the others is no rival of theirs. */
const sparse = 0.1;

const kindNames: ReadonlySet<string> = new Set(
  (
    "type kind indicator indicatortype indicatorkind ioctype iockind itemtype itemkind " +
    "observabletype attributetype artifacttype artefacttype entitytype datatype valuetype"
  ).split(" "),
);

function usualColumn(columns: readonly SampledColumn[]): SharedColumn | null {
  for (const usual of customaryItemColumns) {
    for (const [index, { name, cells, neighbours }] of columns.entries()) {
      if (name.trim().toLowerCase() !== usual) continue;
      const labels = neighbours.map((neighbour) => columns[neighbour]!.cells);
      const sample = columnShare(cells, labels);
      if (sample.share >= mostShare) return { name, index, sample };
    }
  }
  return null;
}

function withoutSparse(columns: readonly SharedColumn[]): SharedColumn[] {
  const fullest = Math.max(0, ...columns.map(({ sample }) => sample.cells));
  return columns.filter(({ sample }) => sample.cells >= fullest * sparse);
}

/** The sampled cells of a column, one a record; null where there is something that is not text. */
export type SampledCells = readonly (string | null)[];

/** Share that a column must have to be taken. */
export const mostShare = 0.5;

/**
 * How much of a column's cells are indicators. Empty cells do not count.
 *
 * @param labels a neighbour's cells: what stands beside the name of a kind that publishers list
 * (`user_account`, `tool`) counts as an indicator, whatever it is
 */
export function columnShare(
  cells: SampledCells,
  labels: readonly SampledCells[] = [],
): ColumnSample {
  let filled = 0;
  let indicators = 0;
  let sum = 0;
  cells.forEach((cell, row) => {
    if (cell?.trim() === "") return;
    filled += 1;
    const labelled = labels.some((column) => isPublishedKind(column[row]?.trim() ?? ""));
    const weight = cell === null ? 0 : labelled ? 1 : weightOf(cell);
    if (weight > 0) indicators += 1;
    sum += weight;
  });
  return { cells: filled, indicators, share: filled === 0 ? 0 : sum / filled };
}

/** A longer cell is prose, or a file. */
const longestCell = 8192;

function weightOf(cell: string): number {
  return cell.length > longestCell ? 0 : indicatorWeight(cell);
}

/** The beginning of an input, in which its columns are found. */
export interface ColumnSource {
  /** What to call the input in messages. */
  readonly input: string;
  /** The columns as the records read so far show them. */
  columns(): readonly SampledColumn[];
  /** The place of a column among them. */
  placeOf(item: ItemColumn, columns: readonly SampledColumn[]): number;
  /** The column that a flag names. @throws UsageError `column_not_found` */
  named(flag: ColumnFlag): ColumnPlace | Promise<ColumnPlace>;
  /** Reads the whole sample, or as far as the input's first pause in which it is `clear`. */
  sample(clear: () => boolean): Promise<void>;
  /** The item column of an input that has no record; null where it has one. */
  withoutRecords(): ItemColumn | null;
}

/**
 * Finds the columns of item and kind by the flags and the first records, of which no more are read
 * than it takes.
 *
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function settleColumns(
  source: ColumnSource,
  { itemColumn, kindColumn }: Pick<ReadOptions, "itemColumn" | "kindColumn">,
): Promise<Pick<InputReading, "item" | "kind">> {
  const item: ItemColumn =
    itemColumn === null
      ? await chosenItem(source)
      : {
          ...(await source.named({ flag: "--item-column", wanted: itemColumn })),
          by: "flag",
          sample: null,
        };
  const kind: KindColumn | null =
    kindColumn === null
      ? await kindBeside(item, source)
      : { ...(await source.named({ flag: "--kind-column", wanted: kindColumn })), by: "flag" };
  return { item, kind };
}

async function chosenItem(source: ColumnSource): Promise<ItemColumn> {
  const choose = (): ItemChoice => chooseItemColumn(source.columns());
  await source.sample(() => choose().item !== null);
  const any = source.withoutRecords();
  if (any !== null) return any;
  const { item, problem } = choose();
  if (problem !== null) throw noItemColumn(source.input, columnShares(source.columns()), problem);
  return item;
}

async function kindBeside(item: ItemColumn, source: ColumnSource): Promise<KindColumn | null> {
  if (item.by === "flag") {
    // Nothing is sampled yet; only a neighbour that is called like a kind column is worth it.
    const columns = source.columns();
    const beside = columns[source.placeOf(item, columns)]?.neighbours ?? [];
    if (!beside.some((index) => isKindName(columns[index]!.name))) return null;
    await source.sample(() => true);
  }
  const columns = source.columns();
  return chooseKindColumn(columns, source.placeOf(item, columns));
}
