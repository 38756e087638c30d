import { describe, expect, it } from "vitest";
import { FatalError, InterruptedError } from "../../../../src/core/errors.js";
import type { Finding } from "../../../../src/core/finding.js";
import type { EnrichedRow, Row } from "../../../../src/core/row.js";
import { moveRows } from "../../../../src/jobs/enrich/rows/move-rows.js";
import { RunSignals } from "../../../../src/jobs/enrich/run-signals.js";
import { Tally } from "../../../../src/jobs/enrich/tally.js";
import type { Sink } from "../../../../src/io/output/text/text-sink.js";
import type { OpenedSource } from "../../../../src/io/input/types.js";
import { readingOf } from "../../../io/input/sources/sources-reading.js";
import { aFinding, anItem, aRow } from "../../../helpers/enriched-rows.js";
import { ManualClock } from "../../../helpers/manual-clock.js";

describe("a run", () => {
  it("writes the rows before the point where a source broke off", async () => {
    const trial = tryRun({
      source: sourceOf([rows(1, 3)], new FatalError("input_quote", "line 9: a quote opens here")),
    });
    await expect(trial.ended).rejects.toMatchObject({ code: "input_quote" });
    expect(trial.written).toEqual([1, 2, 3]);
  });

  it("looks up only the rows that an earlier session has not written", async () => {
    const asked: number[] = [];
    const trial = tryRun({
      source: sourceOf([rows(1, 3), rows(4, 5)]),
      written: 4,
      begin: ({ number }) => {
        asked.push(number);
        return looked();
      },
    });
    await trial.ended;
    expect([asked, trial.written]).toEqual([[5], [5]]);
  });

  it("cancels waiting lookups when the sink fails", async () => {
    const reasons: unknown[] = [];
    const trial = tryRun({
      source: sourceOf([rows(1, 3)]),
      begin: (row, waits) => (row.number === 1 ? looked() : untilAborted(waits, reasons)),
      write: () => Promise.reject(new FatalError("output_disk_full", "the disk is full")),
    });
    await expect(trial.ended).rejects.toMatchObject({ code: "output_disk_full" });
    expect(reasons).toHaveLength(2);
    expect(trial.written).toEqual([]);
  });

  it("cancels waiting lookups at once when stopped", async () => {
    const trial = tryRun({
      source: sourceOf([rows(1, 2)]),
      begin: (row, waits) => (row.number === 1 ? looked() : untilAborted(waits, [])),
    });
    await trial.rowsBegun(2);
    trial.stop.abort(new InterruptedError("SIGINT"));
    await expect(trial.ended).rejects.toMatchObject({ signal: "SIGINT" });
    expect(trial.written).toEqual([1]);
  });

  it("lets open requests finish for a while when stopped, then cancels them", async () => {
    const reasons: unknown[] = [];
    const trial = tryRun({
      source: sourceOf([rows(1, 1)]),
      begin: (_, __, requests) => untilAborted(requests, reasons),
    });
    await trial.rowsBegun(1);
    trial.stop.abort(new InterruptedError("SIGTERM"));
    await trial.clock.advance(4_999);
    expect(reasons).toEqual([]);
    await trial.clock.advance(1);
    await expect(trial.ended).rejects.toMatchObject({ signal: "SIGTERM" });
    expect(reasons).toHaveLength(1);
  });

  it("is not blocked by a reader that stops reading when stopped", async () => {
    const trial = tryRun({
      source: sourceOf([rows(1, 1)]),
      write: () => new Promise(() => undefined),
    });
    await trial.rowsBegun(1);
    await trial.clock.advance(0);
    trial.stop.abort(new InterruptedError("SIGINT"));
    const ended = trial.ended.catch((error: unknown) => error);
    await trial.clock.advance(5_000);
    expect(await ended).toMatchObject({ signal: "SIGINT" });
  });

  it("leaves a source that waits for bytes at once when stopped", async () => {
    const waiting: OpenedSource["rows"] = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
    };
    const trial = tryRun({
      source: { ...sourceOf([]), rows: waiting },
    });
    trial.stop.abort(new InterruptedError("SIGINT"));
    await expect(trial.ended).rejects.toMatchObject({ signal: "SIGINT" });
  });
});

interface TrialOptions {
  readonly source: OpenedSource;
  /** @default a lookup that has ended */
  readonly begin?: (row: Row, waits: AbortSignal, requests: AbortSignal) => Promise<Finding>;
  readonly write?: (rows: readonly EnrichedRow[]) => Promise<void>;
  readonly written?: number;
}

function tryRun({ source, begin = looked, write, written: before = 0 }: TrialOptions) {
  const clock = new ManualClock();
  const stop = new AbortController();
  const written: number[] = [];
  let begun = 0;
  const sink: Sink = {
    async write(batch) {
      await write?.(batch);
      written.push(...batch.map(({ row }) => row.number));
    },
    checkpoint: () => Promise.resolve({ length: 0, rows: 0 }),
    close: () => Promise.resolve(),
    abandon: () => Promise.resolve(),
  };
  const signals = new RunSignals({ signal: stop.signal, settings: { run: {} } });
  const ended = moveRows({
    source,
    start(row, signal) {
      begun++;
      return { item: anItem, finding: begin(row, signal, signals.requests) };
    },
    sink,
    tally: new Tally(),
    clock,
    concurrency: 4,
    signals,
    written: before,
    onRead: () => undefined,
    onWritten: () => Promise.resolve(),
  });
  // Some callers wait for the end only later.
  ended.catch(() => undefined);
  const rowsBegun = async (count: number): Promise<void> => {
    for (;;) {
      if (begun >= count) return;
      await clock.advance(0);
    }
  };
  return { ended, written, clock, stop, rowsBegun };
}

const looked = (): Promise<Finding> => Promise.resolve(aFinding());

function rows(from: number, to: number): Row[] {
  return Array.from({ length: to - from + 1 }, (_, n) => aRow({ number: from + n }));
}

function sourceOf(batches: readonly Row[][], end?: Error): OpenedSource {
  async function* read(): AsyncGenerator<readonly Row[]> {
    yield* batches;
    if (end === undefined) return;
    // Leave time for the rows read to be looked up and written.
    for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
    throw end;
  }
  return {
    columns: ["ip"],
    reading: readingOf("csv", "ip"),
    rows: read(),
    bytesTotal: null,
    bytesRead: () => 0,
    checksum: () => ({ bytes: 0, crc: 0, marks: [] }),
    warnings: [],
    close: () => Promise.resolve(),
  };
}

/** Waits under a signal, as a back-off or an open request does. */
function untilAborted(signal: AbortSignal, reasons: unknown[]): Promise<Finding> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      reasons.push(signal.reason);
      reject(signal.reason as Error);
    });
  });
}
