import { expect, it } from "vitest";
import { sealJson } from "../../../../src/core/files/json-file.js";
import { WarehouseRun } from "../../../../src/run/destination/warehouse-run.js";
import type { Sink } from "../../../../src/outputs/types.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import { jobHere } from "../../../helpers/job-here.js";
import { type Checkpoint, writeNote } from "../../../../src/run/state/checkpoint.js";
import type { WarehouseOutputTarget } from "../../../../src/run/destination/output-target.js";

const saved = {
  version: 2,
  runId: "a run",
  sink: { length: 3, rows: 3 },
  source: { offset: 30, row: 3, line: 4, columns: ["ip"] },
} as unknown as Checkpoint;

const newer: Checkpoint = { ...saved, sink: { length: 5, rows: 5 } };

it("continues from the table's own checkpoint if it is newer", async () => {
  expect(await resumed(writeNote(newer), 5)).toEqual(newer);
  expect(await resumed(null, 3)).toEqual(saved);
});

it.each([
  ["with a changed number", writeNote(newer).replace('"rows":5', '"rows":4'), 4],
  ["that is cut off", writeNote(newer).slice(0, -20), 5],
  ["that is empty", "", 3],
  ["of another run", writeNote({ ...newer, runId: "another run" }), 5],
  ["of another version", sealJson({ ...newer, version: 1 }), 5],
])("refuses a checkpoint in the table %s", async (_, note, rows) => {
  await expect(resumed(note, rows)).rejects.toMatchObject({
    code: "checkpoint_damaged",
    message: "the checkpoint of the interrupted run in the table is damaged",
    hint: "start over with --restart",
  });
});

it("refuses a table with a different number of rows than its checkpoint", async () => {
  await expect(resumed(writeNote(newer), 3)).rejects.toMatchObject({
    code: "output_table_differs",
    message: "the table holds 3 rows of the interrupted run, but its checkpoint says 5",
  });
});

/** Resumes a run whose table has this note and this many rows. */
async function resumed(note: string | null, rows: number): Promise<Checkpoint> {
  const sink = { abandon: () => Promise.resolve() } as unknown as Sink;
  const warehouse = { open: () => Promise.resolve({ sink, note, rows }) };
  const run = new WarehouseRun({
    job: jobHere({
      settings: { output: "out", intelUrl: "http://127.0.0.1/beta" },
      input: { path: "in.csv" },
    }),
    target: { name: "the table", warehouse } as unknown as WarehouseOutputTarget,
    optional: {},
    runId: saved.runId,
    clock: new ManualClock(),
    stateFolder: "",
  });
  return run.resume(saved);
}
