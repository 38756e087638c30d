import type { JsonObject } from "../../core/finding.js";
import {
  chooseItemColumn,
  chooseKindColumn,
  columnShares,
  isKindName,
  type SampledColumn,
} from "../columns/choose-column.js";
import { noItemColumn, unknownColumn } from "../columns/find-column.js";
import { type ColumnFlag, matchColumn } from "../columns/find-column.js";
import { limits } from "../reading/limits.js";
import { itemTextOf, MemberPath } from "./ndjson-row.js";
import type { NdjsonSample } from "./ndjson-sample.js";
import type { InputReading, ItemColumn, KindColumn, ReadOptions } from "../types.js";

type LayoutOptions = Pick<ReadOptions, "itemColumn" | "kindColumn">;

/**
 * Finds the paths of item and kind by the flags and the first objects.
 *
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findPaths(
  input: string,
  sample: NdjsonSample,
  { itemColumn, kindColumn }: LayoutOptions,
): Promise<Pick<InputReading, "item" | "kind">> {
  await sample.readObjects(1);
  const flagged = async (flag: ColumnFlag): Promise<{ name: string; index: number }> => ({
    name: await namedPath(flag, input, sample),
    index: 0,
  });
  const item: ItemColumn =
    itemColumn === null
      ? await chosenPath(input, sample)
      : {
          ...(await flagged({ flag: "--item-column", wanted: itemColumn })),
          by: "flag",
          sample: null,
        };
  const kind: KindColumn | null =
    kindColumn === null
      ? await kindBeside(item, sample)
      : { ...(await flagged({ flag: "--kind-column", wanted: kindColumn })), by: "flag" };
  return { item, kind };
}

/** The path that a flag names: a column, else what the first records have there. */
async function namedPath(flag: ColumnFlag, input: string, sample: NdjsonSample): Promise<string> {
  const column = matchColumn(sample.columns, flag.wanted);
  if (column !== null) return column.name;
  if (sample.hasObjects && !(await sample.includes(new MemberPath(flag.wanted)))) {
    throw unknownColumn(input, sample.columns, flag);
  }
  return flag.wanted;
}

async function chosenPath(input: string, sample: NdjsonSample): Promise<ItemColumn> {
  const choice = (): ReturnType<typeof chooseItemColumn> => chooseItemColumn(columnsOf(sample));
  await sample.readObjects(limits.sampleRecords, () => choice().item !== null);
  // Without an object there is nothing to choose from, and nothing to look up either.
  if (!sample.hasObjects) return { name: "item", index: 0, by: "name", sample: null };
  const { item, problem } = choice();
  if (problem !== null) throw noItemColumn(input, columnShares(columnsOf(sample)), problem);
  return item;
}

/** A member beside the item that names kinds. */
async function kindBeside(item: ItemColumn, sample: NdjsonSample): Promise<KindColumn | null> {
  if (item.by === "flag") {
    // Nothing is sampled yet; only what is called like a kind column is worth it.
    const columns = columnsOf(sample);
    const beside = columns.find(({ name }) => name === item.name)?.neighbours ?? [];
    if (!beside.some((index) => isKindName(columns[index]!.name))) return null;
    await sample.readObjects(limits.sampleRecords, () => true);
  }
  const columns = columnsOf(sample);
  return chooseKindColumn(
    columns,
    columns.findIndex(({ name }) => name === item.name),
  );
}

/** Every path that leads to a value in one of the first objects, in order of appearance. */
function columnsOf(sample: NdjsonSample): readonly SampledColumn[] {
  const objects = sample.objects.slice(0, limits.sampleRecords);
  const paths = new Map<string, { readonly parent: string; readonly cells: (string | null)[] }>();
  objects.forEach((object, row) => {
    eachLeaf(object, "", (path, parent, value) => {
      if (paths.size >= mostPaths && !paths.has(path)) return;
      const column = paths.get(path) ?? { parent, cells: objects.map(() => "") };
      column.cells[row] = itemTextOf(value);
      paths.set(path, column);
    });
  });
  const parents = Array.from(paths.values(), ({ parent }) => parent);
  return Array.from(paths, ([name, { parent, cells }], index) => ({
    name,
    cells,
    neighbours: [index - 1, index + 1].filter((neighbour) => parents[neighbour] === parent),
  }));
}

/** Objects that are nested deeper, and more paths, are no records of indicators. */
const deepest = 8;
const mostPaths = 1000;

function eachLeaf(
  object: JsonObject,
  parent: string,
  found: (path: string, parent: string, value: unknown) => void,
  depth = 1,
): void {
  for (const [name, value] of Object.entries(object)) {
    // A dot would be taken for a step.
    if (parent !== "" && name.includes(".")) continue;
    const path = parent + name;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      found(path, parent, value);
    } else if (depth < deepest) {
      eachLeaf(value as JsonObject, `${path}.`, found, depth + 1);
    }
  }
}
