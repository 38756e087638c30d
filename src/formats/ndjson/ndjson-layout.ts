import type { JsonObject } from "../../core/finding.js";
import type { SampledColumn } from "../columns/choose-column.js";
import { matchColumn, unknownColumn } from "../columns/find-column.js";
import { settleColumns } from "../columns/settle-columns.js";
import { limits } from "../reading/limits.js";
import type { InputReading, ReadOptions } from "../types.js";
import { itemTextOf, MemberPath } from "./ndjson-row.js";
import type { NdjsonSample } from "./ndjson-sample.js";

/**
 * Finds the paths of item and kind by the flags and the first objects.
 *
 * @throws UsageError `column_not_found`, `column_ambiguous`
 */
export async function findPaths(
  input: string,
  sample: NdjsonSample,
  options: Pick<ReadOptions, "itemColumn" | "kindColumn">,
): Promise<Pick<InputReading, "item" | "kind">> {
  await sample.readObjects(1);
  return settleColumns(
    {
      input,
      columns: () => columnsOf(sample),
      placeOf: (item, columns) => columns.findIndex(({ name }) => name === item.name),
      // A column, else what the first records have there.
      async named(flag) {
        const column = matchColumn(sample.columns, flag.wanted);
        if (column !== null) return { name: column.name, index: 0 };
        if (sample.hasObjects && !(await sample.includes(new MemberPath(flag.wanted)))) {
          throw unknownColumn(input, sample.columns, flag);
        }
        return { name: flag.wanted, index: 0 };
      },
      sample: (clear) => sample.readObjects(limits.sampleRecords, clear),
      // Without an object there is nothing to choose from, and nothing to look up either.
      withoutRecords: () =>
        sample.hasObjects ? null : { name: "item", index: 0, by: "name", sample: null },
    },
    options,
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
