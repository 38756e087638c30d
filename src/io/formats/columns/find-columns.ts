import { limits } from "../reading/lines.js";
import type {
  ColumnPlace,
  InputReading,
  ItemColumn,
  KindColumn,
  RatedColumn,
  ReadOptions,
} from "../types.js";
import {
  chooseItemColumn,
  chooseKindColumn,
  isKindName,
  isReason,
  type ItemChoice,
} from "./choose-column.js";
import { isAsked } from "./column-words.js";
import { type ColumnFlag, columnName, isListPath, noItemColumn } from "./name-columns.js";
import type { SampledColumn } from "./rate-columns.js";

/** The start of an input, from which its columns are found. */
interface ColumnSource {
  readonly input: string;
  columns(): readonly SampledColumn[];
  placeOf(item: ItemColumn, columns: readonly SampledColumn[]): number;
  /** The column named by a flag. @throws UsageError `column_not_found` */
  named(flag: ColumnFlag): ColumnPlace | Promise<ColumnPlace>;
  /**
   * Reads so many records, or up to the input's first pause at which `clear` returns true.
   *
   * @returns false if there were fewer
   */
  sample(records: number, clear: () => boolean): Promise<boolean>;
  /** The item column of an input without records; null if it has any. */
  withoutRecords(): ItemColumn | null;
}

export type ColumnFlags = Pick<
  ReadOptions,
  "itemColumn" | "kindColumn" | "anyItemColumn" | "isHeld" | "isTable"
>;

/**
 * Finds the item and kind columns from flags and the first records, reading no more than needed.
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findColumns(
  source: ColumnSource,
  flags: ColumnFlags,
): Promise<Pick<InputReading, "items" | "kind" | "others" | "ofFiles">> {
  const { items, others } =
    flags.itemColumn === null
      ? await chosenItem(source, flags)
      : { items: await named(source, flags) };
  const [first, second] = items;
  if (flags.kindColumn !== null) {
    const place = await source.named({ flag: "--kind-column", wanted: flags.kindColumn });
    return { items, kind: { ...place, by: "flag" }, ...others };
  }
  return { items, kind: second === undefined ? await kindBeside(first, source) : null, ...others };
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

/** What is known of an input whose item column is chosen. */
interface ChosenItem {
  readonly items: readonly [ItemColumn];
  readonly others: Pick<InputReading, "others" | "ofFiles">;
}

/** Samples on while nothing can be looked up: the first rows may be hashes, or private addresses. */
async function chosenItem(
  source: ColumnSource,
  flags: Pick<ColumnFlags, "isHeld" | "isTable">,
): Promise<ChosenItem> {
  const choose = (): ItemChoice => chooseItemColumn(source.columns(), flags.isHeld);
  const isWorth = (column: RatedColumn): boolean => isReason(column) && !isListPath(column.name);
  const isClear = (): boolean => {
    const { choice, rated } = choose();
    return !("problem" in choice) && rated.some(isWorth);
  };
  let records: number = limits.sampleRecords;
  let isFull = await source.sample(records, isClear);
  const any = source.withoutRecords();
  if (any !== null) return { items: [any], others: {} };
  let found = choose();
  while (isFull && !found.rated.some(isWorth) && records < limits.mostSampled) {
    records = Math.min(records * 2, limits.mostSampled);
    isFull = await source.sample(records, isClear);
    found = choose();
  }
  const { choice, rated } = found;
  if ("problem" in choice) throw noItemColumn(source.input, rated, choice, flags.isTable);
  return {
    items: [choice],
    others: othersBeside(choice, rated, source.columns()[0]?.cells.length),
  };
}

/** The columns with items that are not looked up. */
function othersBeside(
  item: ItemColumn,
  rated: readonly RatedColumn[],
  sampled = 0,
): Pick<InputReading, "others" | "ofFiles"> {
  const others = rated.filter((column) => column.index !== item.index && isAsked(column));
  const named = rated.filter(({ ofFiles }) => ofFiles).map(columnName);
  const ofFiles = named.length === 0 ? {} : { ofFiles: named };
  if (others.length === 0) return ofFiles;
  const columns = others.map(({ name, index, sample }) => ({
    name,
    index,
    rows: Math.round(sample.queryable * sampled),
  }));
  return { others: { sampled, columns }, ...ofFiles };
}

async function kindBeside(item: ItemColumn, source: ColumnSource): Promise<KindColumn | null> {
  if (item.by === "flag") {
    // Nothing is sampled yet; sample only if a neighbour is named like a kind column.
    const columns = source.columns();
    const beside = columns[source.placeOf(item, columns)]?.neighbours ?? [];
    if (!beside.some((index) => isKindName(columns[index]!.name))) return null;
    await source.sample(limits.sampleRecords, () => true);
  }
  const columns = source.columns();
  return chooseKindColumn(columns, source.placeOf(item, columns));
}
