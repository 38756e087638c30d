import { describe, expect, it } from "vitest";
import { Checkpointer } from "../../../../src/run/state/checkpointer.js";
import type { Manifest } from "../../../../src/core/manifest/manifest.js";
import { Tally } from "../../../../src/run/tally.js";
import type { Sink } from "../../../../src/outputs/types.js";
import { readingOf } from "../../../contract/sources-reading.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import type { Checkpoint } from "../../../../src/run/state/checkpoint.js";

describe("a checkpoint", () => {
  it("is saved after the journal and before the state folder", async () => {
    const { checkpointer, steps, saved } = prepared();
    await checkpointer.save();
    expect(steps).toEqual(["journal", "sink", "saved"]);
    expect(saved[0]).toMatchObject({
      journalBytes: 64,
      source: { row: 0, input: { bytes: 12, crc: 34 } },
    });
  });
});

function prepared() {
  const steps: string[] = [];
  const saved: Checkpoint[] = [];
  const sink: Sink = {
    write: () => Promise.resolve(),
    checkpoint() {
      steps.push("sink");
      return Promise.resolve({ length: 1, rows: 1 });
    },
    finish: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
  const state = {
    save(checkpoint: Checkpoint) {
      steps.push("saved");
      saved.push(checkpoint);
      return Promise.resolve();
    },
    path: "/dev/null/state",
  };
  const checkpointer = new Checkpointer({
    clock: new ManualClock(),
    sink,
    journal: { sync: () => Promise.resolve(void steps.push("journal")), durableBytes: 64 },
    state,
    tally: new Tally(),
    fingerprint: {
      schemaVersion: 2,
      input: { path: "in.csv", bytes: 1, head: null, tail: null },
      options: {},
    },
    source: {
      columns: ["ip"],
      reading: readingOf("csv", "ip"),
      checksum: () => ({ bytes: 12, crc: 34, marks: [] }),
    },
    before: null,
    runId: "a run",
    record: () => ({}) as Manifest,
  });
  return { checkpointer, steps, saved };
}
