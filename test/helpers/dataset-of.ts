import { assemble, type Dataset } from "../../src/service/dataset.js";

/**
 * A dataset without a folder, from the lines of its files as values.
 *
 * @throws UsageError `dataset_invalid`, naming the first fault as `items[2]`
 */
export function datasetOf(parts: {
  readonly [part in keyof Parameters<typeof assemble>[0]]?: readonly unknown[];
}): Dataset {
  const placed = Object.entries(parts).map(([part, values]) => [
    part,
    values.map((value, index) => ({ value, where: `${part}[${index}]` })),
  ]);
  return assemble(Object.fromEntries(placed));
}
