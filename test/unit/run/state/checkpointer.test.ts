import { describe, expect, it } from "vitest";
import { openSealedJson } from "../../../../src/core/files/json-file.js";
import { Checkpointer } from "../../../../src/run/state/checkpointer.js";
import type { Manifest } from "../../../../src/run/types.js";
import { Tally } from "../../../../src/run/tally.js";
import type { Sink } from "../../../../src/outputs/types.js";
import { anEnrichedRow } from "../../../helpers/enriched-rows.js";
import { readingOf } from "../../../contract/sources-reading.js";
import { ManualClock } from "../../../helpers/manual-clock.js";
import type { Checkpoint } from "../../../../src/run/state/checkpoint.js";

describe("a checkpoint", () => {
  it("is saved when the sink is full", async () => {
    const { checkpointer, sink, steps } = prepared();
    await checkpointer.written({ last: null, ahead: [] }, false);
    expect(steps).toEqual([]);
    sink.full = true;
    await checkpointer.written({ last: null, ahead: [] }, false);
    expect(steps).toContain("saved");
  });

  it("is saved after the journal and before the state folder", async () => {
    const { checkpointer, steps, saved } = prepared();
    await checkpointer.save();
    expect(steps).toEqual(["journal", "sink", "saved"]);
    expect(saved[0]).toMatchObject({
      journalBytes: 64,
      source: { row: 0, input: { bytes: 12, crc: 34 } },
    });
  });

  it("is stored with the rows by a database, with the run's progress but without paths", async () => {
    const { checkpointer, notes, saved, tally } = prepared();
    tally.row(anEnrichedRow());
    await checkpointer.save();
    const note = openSealedJson(notes[0] ?? "") as Partial<Checkpoint>;
    const { fingerprint, ...rest } = saved[0]!;
    expect(note).toEqual(JSON.parse(JSON.stringify(rest)));
    expect(note).toMatchObject({ runId: "a run", sink: { length: 1, rows: 1 } });
    expect(JSON.stringify(fingerprint)).toContain("in.csv");
    expect(notes[0]).not.toContain("in.csv");
  });

  it("leaves no note in a database before the first row", async () => {
    const { checkpointer, notes, saved } = prepared();
    await checkpointer.save();
    expect({ notes, saved: saved.length }).toEqual({ notes: [], saved: 1 });
  });
});

function prepared() {
  const steps: string[] = [];
  const notes: string[] = [];
  const saved: Checkpoint[] = [];
  const tally = new Tally();
  const sink: Sink & { full: boolean } = {
    full: false,
    write: () => Promise.resolve(),
    checkpoint(note) {
      steps.push("sink");
      const position = { length: 1, rows: 1 };
      if (note !== undefined) notes.push(note(position));
      return Promise.resolve(position);
    },
    finish: () => Promise.resolve({ path: null, bytes: 0, rows: 0 }),
    abandon: () => Promise.resolve(),
  };
  const state = {
    save(checkpoint: Checkpoint) {
      steps.push("saved");
      saved.push(checkpoint);
      return Promise.resolve();
    },
    saveRecord: () => Promise.resolve(),
  };
  const checkpointer = new Checkpointer({
    clock: new ManualClock(),
    sink,
    journal: { sync: () => Promise.resolve(void steps.push("journal")), durableBytes: 64 },
    state,
    tally,
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
  return { checkpointer, sink, steps, notes, saved, tally };
}
