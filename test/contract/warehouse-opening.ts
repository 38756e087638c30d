import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { EnrichedRow } from "../../src/core/row.js";
import type { WarehouseOptions } from "../../src/outputs/warehouse/types.js";
import { anEnrichedRow } from "../helpers/enriched-rows.js";

/** Options of a new run with its state folder in `folder`. */
export async function someOptions(
  folder: string,
  members: Partial<WarehouseOptions> = {},
): Promise<WarehouseOptions> {
  const stateFolder = join(folder, "state");
  await mkdir(stateFolder, { recursive: true });
  return {
    columns: ["ip"],
    prefix: "rep_",
    runId: "00000000-0000-4000-8000-000000000001",
    resume: null,
    stateFolder,
    ...members,
  };
}

/** Rows by number; their only input cell is `cell N`. */
export function someRows(from: number, to: number): readonly EnrichedRow[] {
  return someCells(from, to).map((cell, index) =>
    anEnrichedRow({ number: from + index, cells: [cell] }),
  );
}

export function someCells(from: number, to: number): readonly string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `cell ${from + index}`);
}
