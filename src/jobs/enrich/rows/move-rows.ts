import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../../core/clock.js";
import { EarlyEndError } from "../../../core/errors.js";
import { raceAbort } from "../../../core/abort.js";
import type { EnrichedRow, LeftOutReason, Row } from "../../../core/row.js";
import type { Slots } from "../../../client/pace/slots.js";
import type { Sink } from "../../../io/output/types.js";
import type { OpenedSource } from "../../../io/input/types.js";
import { RowWindow } from "./row-window.js";
import type { RunSignals } from "../run-signals.js";
import type { Tally } from "../tally.js";
import type { StartRow } from "../types.js";

/**
 * Maximum number of rows between reading and writing, and of their bytes (input and large answers).
 */
const windowBounds = { rows: 4096, bytes: 32 * 1024 * 1024 };

/** Maximum number of rows with a pending lookup: enough that back-off leaves no slot idle. */
const pendingBounds = { least: 512, perRequest: 4 };

/** Rows started before yielding to the event loop, so that cached answers are written meanwhile. */
const startBatch = 32;

/** How long an interrupted run waits for open requests and for its output, in milliseconds. */
const graceMs = 5_000;

interface RowMoveOptions {
  readonly source: Pick<OpenedSource, "rows">;
  /** Recognises a row's item and starts its lookup, if it needs one. */
  readonly start: StartRow;
  readonly sink: Pick<Sink, "write">;
  readonly tally: Tally;
  readonly clock: Clock;
  /** Maximum number of open requests. */
  readonly concurrency: number;
  /** Slots of the lookups that `start` makes. */
  readonly slots?: Slots;
  readonly signals: RunSignals;
  /** Number of the last row that is already written, which may be behind the first one of the source. */
  readonly written: number;
  /** Why the sink leaves a row out; null for a row that it writes. @default it writes all */
  readonly leftOut?: ((row: EnrichedRow) => LeftOutReason | null) | undefined;
  /** Input offset at which reading starts. */
  readonly startOffset: number;
  /** Called with the number of rows that the source has just given. */
  readonly onReceived?: (rows: number) => void;
  /** Called before the lookup of a row starts. */
  readonly onRead: (row: Row) => void;
  /** Called after each batch passed to the sink, and once at the end with `last` true. */
  readonly onWritten: (recordEnd: Row | null, last: boolean) => Promise<void>;
}

/**
 * Moves every row from the source through its lookup into the sink. However it ends, finished rows
 * that are next in order are written first.
 *
 * @throws the reason the run was stopped, or the error that prevented reading, lookup or writing
 */
export async function moveRows(options: RowMoveOptions): Promise<void> {
  const { signals } = options;
  const window = windowFor(options);
  const onStop = (): void => window.fail(signals.stop.reason);
  signals.stop.addEventListener("abort", onStop, { once: true });
  if (signals.stop.aborted) onStop();
  const start = (row: Row): void => {
    options.onRead(row);
    const { item, finding } = options.start(row, signals.stop);
    window.add(row, item, finding);
  };
  try {
    await readAll(options, window, start);
    await window.drained();
    await options.onWritten(window.recordEnd, true);
  } catch (error) {
    await windDown(error, window, options);
    throw error;
  }
}

function windowFor(options: RowMoveOptions): RowWindow {
  const { sink, tally, slots, concurrency, startOffset } = options;
  const { least, perRequest } = pendingBounds;
  const window: RowWindow = new RowWindow(
    {
      capacity: windowBounds.rows,
      capacityUnsettled: Math.max(least, perRequest * concurrency),
      capacityBytes: windowBounds.bytes,
      slots,
      async write(rows) {
        await sink.write(rows);
        for (const row of rows) tally.row(row, options.leftOut?.(row));
        await options.onWritten(window.recordEnd, false);
      },
    },
    startOffset,
  );
  return window;
}

/** Stops the lookups, waits for open requests, and writes the finished rows. */
async function windDown(error: unknown, window: RowWindow, options: RowMoveOptions): Promise<void> {
  const { signals, clock } = options;
  const { interrupted } = signals;
  signals.end(error);
  window.fail(error);
  const settled = window.allSettled();
  if (error instanceof EarlyEndError) await raceAbort(settled, interrupted).catch(() => undefined);
  if (interrupted.aborted) await within(graceMs, settled, clock);
  signals.cancelRequests(error);
  await settled;
  // A failed sink accepts no more rows.
  if (window.failure?.writing) return;
  const flushed = window
    .flush()
    .then(() => options.onWritten(window.recordEnd, true))
    .catch(() => undefined);
  // A reader that has stopped reading (`| less`) must not block an interrupted run.
  await (interrupted.aborted ? within(graceMs, flushed, clock) : flushed);
}

async function readAll(
  { source, written, onReceived }: RowMoveOptions,
  window: RowWindow,
  start: (row: Row) => void,
): Promise<void> {
  const rows = source.rows[Symbol.asyncIterator]();
  let begun = 0;
  for (;;) {
    // Abandon a source that is waiting for bytes (stdin) as soon as the window fails.
    const step = await new Promise<IteratorResult<readonly Row[]>>((resolve, reject) => {
      window.onFailure(reject);
      rows.next().then(resolve, reject);
    });
    if (step.done) return;
    onReceived?.(step.value.length);
    for (const row of step.value) {
      if (window.full) {
        await window.space();
        begun = 0;
      } else if (window.failure !== null) throw window.failure.error;
      if (++begun === startBatch) {
        await turn();
        begun = 0;
      }
      if (row.number > written) start(row);
    }
  }
}

/** Waits for `settled`, but no longer than `ms`. */
async function within(ms: number, settled: Promise<void>, clock: Clock): Promise<void> {
  const enough = new AbortController();
  const over = clock.sleep(ms, enough.signal).catch(() => undefined);
  await Promise.race([settled, over]);
  enough.abort();
}
