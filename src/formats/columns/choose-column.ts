import { isPublishedKind, parseKindName } from "../../core/item/item.js";
import {
  type ColumnFlag,
  customaryItemColumns,
  noItemColumn,
  type RatedColumn,
} from "./find-column.js";
import type {
  ColumnPlace,
  ColumnSample,
  InputReading,
  ItemColumn,
  KindColumn,
  ReadOptions,
} from "../types.js";
import { indicatorWeight } from "../../core/item/recognise.js";

/** A column (or a dotted path in NDJSON) and its cells in the first records. */
export interface SampledColumn {
  readonly name: string;
  readonly cells: SampledCells;
  /** Indexes of the columns next to it. */
  readonly neighbours: readonly number[];
}

/** The item column, or why none could be chosen. */
export type ItemChoice =
  | { readonly item: ItemColumn; readonly problem: null }
  | { readonly item: null; readonly problem: "none" | "several" };

/**
 * Chooses the first customary name whose column has a share of at least half, else the column with
 * the largest share, if that is at least half and leads by a tenth.
 */
export function chooseItemColumn(columns: readonly SampledColumn[]): ItemChoice {
  const usual = usualColumn(columns);
  if (usual !== null) return { item: { ...usual, by: "name" }, problem: null };
  const [first, second] = withoutSparse(
    rateColumns(columns).filter(({ sample }) => sample.share >= minShare),
  ).toSorted((a, b) => b.sample.share - a.sample.share);
  if (first === undefined) return { item: null, problem: "none" };
  if (second !== undefined && first.sample.share - second.sample.share < minLead) {
    return { item: null, problem: "several" };
  }
  return { item: { ...first, by: "share" }, problem: null };
}

/** All columns with their shares. */
export function rateColumns(columns: readonly SampledColumn[]): readonly RatedColumn[] {
  return columns.map(({ name, cells }, index) => ({ name, index, sample: columnShare(cells) }));
}

/**
 * Finds the kind column next to the item column: by its name or because most of its cells are
 * kinds, and with at least one kind known to repute.
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

/** Whether a column of this name is likely to contain kinds. */
function isKindName(name: string): boolean {
  return kindNames.has(
    name
      .slice(name.lastIndexOf(".") + 1)
      .toLowerCase()
      .replaceAll(/[\s_-]+/g, ""),
  );
}

/**
 * The kind in an automatically chosen kind column; "" for unknown words. Such columns also label
 * hashes and files, which is no cause for a warning.
 */
export function recognisedKind(text: string): string {
  return text === "" || parseKindName(text) === null ? "" : text;
}

/** Allows for floating-point error: 1 and 0.9 are a tenth apart. */
const minLead = 0.1 + 1e-9;
/** Columns filled less than this fraction of the fullest one are no candidates. */
const minFilled = 0.1;

const kindNames: ReadonlySet<string> = new Set(
  (
    "type kind indicator indicatortype indicatorkind ioctype iockind itemtype itemkind " +
    "observabletype attributetype artifacttype artefacttype entitytype datatype valuetype"
  ).split(" "),
);

function usualColumn(columns: readonly SampledColumn[]): RatedColumn | null {
  for (const usual of customaryItemColumns) {
    for (const [index, { name, cells, neighbours }] of columns.entries()) {
      if (name.trim().toLowerCase() !== usual) continue;
      const labels = neighbours.map((neighbour) => columns[neighbour]!.cells);
      const sample = columnShare(cells, labels);
      if (sample.share >= minShare) return { name, index, sample };
    }
  }
  return null;
}

function withoutSparse(columns: readonly RatedColumn[]): RatedColumn[] {
  const fullest = Math.max(0, ...columns.map(({ sample }) => sample.cells));
  return columns.filter(({ sample }) => sample.cells >= fullest * minFilled);
}

/** The sampled cells of a column, one per record; null for values that aren't text. */
export type SampledCells = readonly (string | null)[];

/** Minimum share of an item column. */
export const minShare = 0.5;

/**
 * Computes the share of indicators among a column's non-empty cells.
 * @param labels cells of the neighbouring columns. A cell labelled with a published kind
 *   (`user_account`, `tool`) counts as an indicator, whatever it contains.
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

/** Longer cells are prose or file contents. */
const maxCellLength = 8192;

function weightOf(cell: string): number {
  return cell.length > maxCellLength ? 0 : indicatorWeight(cell);
}

/** The start of an input, from which its columns are found. */
export interface ColumnSource {
  /** Name of the input for messages. */
  readonly input: string;
  /** The columns in the records read so far. */
  columns(): readonly SampledColumn[];
  /** The index of a column among them. */
  placeOf(item: ItemColumn, columns: readonly SampledColumn[]): number;
  /** The column named by a flag. @throws UsageError `column_not_found` */
  named(flag: ColumnFlag): ColumnPlace | Promise<ColumnPlace>;
  /** Reads the whole sample, or up to the input's first pause at which `clear` returns true. */
  sample(clear: () => boolean): Promise<void>;
  /** The item column of an input without records; null if it has any. */
  withoutRecords(): ItemColumn | null;
}

/**
 * Finds the item and kind columns from flags and the first records, reading no more than needed.
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findColumns(
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
  if (problem !== null) throw noItemColumn(source.input, rateColumns(source.columns()), problem);
  return item;
}

async function kindBeside(item: ItemColumn, source: ColumnSource): Promise<KindColumn | null> {
  if (item.by === "flag") {
    // Nothing is sampled yet; sample only if a neighbour is named like a kind column.
    const columns = source.columns();
    const beside = columns[source.placeOf(item, columns)]?.neighbours ?? [];
    if (!beside.some((index) => isKindName(columns[index]!.name))) return null;
    await source.sample(() => true);
  }
  const columns = source.columns();
  return chooseKindColumn(columns, source.placeOf(item, columns));
}
