import type { ColumnPlace, InputReading, ItemColumn, KindColumn, ReadOptions } from "../types.js";
import {
  chooseItemColumn,
  chooseKindColumn,
  columnShares,
  isKindName,
  type ItemChoice,
  type SampledColumn,
} from "./choose-column.js";
import { type ColumnFlag, noItemColumn } from "./find-column.js";

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
