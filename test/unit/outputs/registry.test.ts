import { expect, it } from "vitest";
import { defineWarehouse, findWarehouse, warehouses } from "../../../src/outputs/registry.js";
import type { WarehouseKind, WarehouseTarget } from "../../../src/outputs/warehouse/types.js";
import { anEnrichedRow } from "../../helpers/enriched-rows.js";

interface MemoryTarget extends WarehouseTarget {
  readonly name: string;
}

const opened: string[] = [];
const items: (string | undefined)[] = [];

/** Everything another warehouse needs. */
const memory: WarehouseKind<MemoryTarget> = {
  parse(output) {
    const name = /^memory:(\w+)$/.exec(output)?.[1];
    if (name === undefined) return null;
    return { kind: "memory", name, file: null, display: output, base: output };
  },
  open({ name }, { runId }) {
    opened.push(`${name} for ${runId}`);
    const position = (): { length: number; rows: number } => ({
      length: items.length,
      rows: items.length,
    });
    return Promise.resolve({
      note: null,
      sink: {
        write: (rows) => Promise.resolve(void items.push(...rows.map(({ item }) => item?.value))),
        checkpoint: () => Promise.resolve(position()),
        finish: () => Promise.resolve({ path: null, bytes: 0, rows: items.length }),
        abandon: () => Promise.resolve(),
      },
      audit: () => Promise.reject(new Error("not needed here")),
    });
  },
};

it("accepts another kind of warehouse as one entry", async () => {
  const found = findWarehouse("memory:intel", [...warehouses, defineWarehouse(memory)]);
  const { sink } = await found!.open({
    columns: ["ip"],
    prefix: "rep_",
    runId: "a run",
    resume: null,
    stateFolder: ".",
  });
  await sink.write([anEnrichedRow()]);
  expect({ opened, items }).toEqual({ opened: ["intel for a run"], items: ["192.0.2.1"] });
});

it("discards nothing for a kind without rows of unfinished runs", async () => {
  const found = findWarehouse("out.parquet");
  await expect(found?.discard({ runId: "a run", prefix: "rep_" })).resolves.toBeUndefined();
});
