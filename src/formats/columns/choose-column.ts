import { isPublishedKind, type ItemKind, parseKindName } from "../../core/item/item.js";
import {
  type ColumnFlag,
  customaryItemColumns,
  minShare,
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
import { rateText, type TextRating } from "../../core/item/recognise.js";
import { strip } from "../../core/item/refang.js";

/** A column (or a dotted path in NDJSON) and its cells in the first records. */
export interface SampledColumn {
  readonly name: string;
  readonly cells: SampledCells;
  readonly neighbours: readonly number[];
}

export type ItemChoice =
  | { readonly item: ItemColumn; readonly problem: null }
  | { readonly item: null; readonly problem: "none" | "several" };

/**
 * Chooses the first customary name whose column has a share of at least half, unless only another
 * column can be looked up. Else, among the columns with such a share, the one with the largest
 * queryable share, or with the largest share if none can be looked up.
 *
 * Refuses to choose if a second one comes within a tenth, or holds another kind in half of the rows.
 */
export function chooseItemColumn(columns: readonly SampledColumn[]): ItemChoice {
  const rated = rateColumns(columns).filter(({ sample }) => sample.share >= minShare);
  const isQueryable = rated.some(({ sample }) => sample.queryable > 0);
  const usual = usualColumns(columns).find(({ sample }) => !isQueryable || sample.queryable > 0);
  if (usual !== undefined) return { item: { ...usual, by: "name" }, problem: null };
  const rank = ({ sample }: RatedColumn): number => (isQueryable ? sample.queryable : sample.share);
  const [first, ...others] = rated.toSorted((a, b) => rank(b) - rank(a));
  if (first === undefined) return { item: null, problem: "none" };
  const isRival = (other: RatedColumn): boolean =>
    rank(first) - rank(other) < minLead ||
    (other.sample.queryable >= minShare && other.sample.kind !== first.sample.kind);
  if (others.some(isRival)) return { item: null, problem: "several" };
  return { item: { ...first, by: "share" }, problem: null };
}

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
const kindNames: ReadonlySet<string> = new Set(
  (
    "type kind indicator indicatortype indicatorkind ioctype iockind itemtype itemkind " +
    "observabletype attributetype artifacttype artefacttype entitytype datatype valuetype"
  ).split(" "),
);

/** The columns of customary names that hold indicators, in the order of these names. */
function usualColumns(columns: readonly SampledColumn[]): readonly RatedColumn[] {
  return customaryItemColumns.flatMap((usual) =>
    columns.flatMap(({ name, cells, neighbours }, index) => {
      if (strip(name).toLowerCase() !== usual) return [];
      const labels = neighbours.map((neighbour) => columns[neighbour]!.cells);
      const sample = columnShare(cells, labels);
      return sample.share >= minShare ? [{ name, index, sample }] : [];
    }),
  );
}

/** The sampled cells of a column, one per record; null for values that aren't text. */
export type SampledCells = readonly (string | null)[];

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
  const kinds = new Map<ItemKind, number>();
  cells.forEach((cell, row) => {
    if (cell?.trim() === "") return;
    filled += 1;
    const { weight, kind } = cell === null ? noIndicator : ratingOf(cell);
    if (kind !== null) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const isLabelled =
      cell !== null && labels.some((column) => isPublishedKind(column[row]?.trim() ?? ""));
    if (weight > 0 || isLabelled) indicators += 1;
    sum += isLabelled ? 1 : weight;
  });
  const [most] = [...kinds].toSorted(([, a], [, b]) => b - a);
  const found = [...kinds.values()].reduce((all, count) => all + count, 0);
  return {
    cells: filled,
    indicators,
    share: filled === 0 ? 0 : sum / filled,
    queryable: cells.length === 0 ? 0 : found / cells.length,
    kind: most?.[0] ?? null,
  };
}

/** Longer cells are prose or file contents. */
const maxCellLength = 8192;

const noIndicator: TextRating = { weight: 0, kind: null };

function ratingOf(cell: string): TextRating {
  return cell.length > maxCellLength ? noIndicator : rateText(cell);
}

/** The start of an input, from which its columns are found. */
export interface ColumnSource {
  readonly input: string;
  columns(): readonly SampledColumn[];
  placeOf(item: ItemColumn, columns: readonly SampledColumn[]): number;
  /** The column named by a flag. @throws UsageError `column_not_found` */
  named(flag: ColumnFlag): ColumnPlace | Promise<ColumnPlace>;
  /** Reads the whole sample, or up to the input's first pause at which `clear` returns true. */
  sample(clear: () => boolean): Promise<void>;
  /** The item column of an input without records; null if it has any. */
  withoutRecords(): ItemColumn | null;
}

export type ColumnFlags = Pick<ReadOptions, "itemColumn" | "kindColumn" | "anyItemColumn">;

/**
 * Finds the item and kind columns from flags and the first records, reading no more than needed.
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findColumns(
  source: ColumnSource,
  flags: ColumnFlags,
): Promise<Pick<InputReading, "items" | "kind">> {
  const items: InputReading["items"] =
    flags.itemColumn === null ? [await chosenItem(source)] : await named(source, flags);
  const [first, second] = items;
  if (flags.kindColumn !== null) {
    const place = await source.named({ flag: "--kind-column", wanted: flags.kindColumn });
    return { items, kind: { ...place, by: "flag" } };
  }
  return { items, kind: second === undefined ? await kindBeside(first, source) : null };
}

async function named(
  source: ColumnSource,
  { itemColumn, anyItemColumn = false }: ColumnFlags,
): Promise<InputReading["items"]> {
  const items: ItemColumn[] = [];
  let missing: unknown = null;
  for (const wanted of new Set([itemColumn ?? []].flat())) {
    try {
      const place = await source.named({ flag: "--item-column", wanted });
      items.push({ ...place, by: "flag", sample: null });
    } catch (error) {
      if (!anyItemColumn) throw error;
      missing = error;
    }
  }
  const [first, ...others] = items;
  if (first === undefined) throw missing;
  return [first, ...others];
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
