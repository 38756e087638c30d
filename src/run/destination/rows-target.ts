import type { WarehouseOutputTarget } from "./output-target.js";

/** The target of a chunk whose staged rows a merge publishes. */
export function rowsTarget(file: string): WarehouseOutputTarget {
  return {
    file,
    base: file,
    name: file,
    format: "rows",
    gzip: false,
    warehouse: {
      target: { kind: "rows", display: file, file, base: file },
      open: async (options) =>
        (await import("../../outputs/publish/rows.js")).publishRows(file, options),
      rows: null,
    },
  };
}
