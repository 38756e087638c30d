import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import { raceAbort } from "../../core/abort.js";
import type { Row } from "../../core/row.js";
import type { Slots } from "../../lookup/pace/slots.js";
import type { Sink } from "../../outputs/types.js";
import type { OpenedSource } from "../../inputs/types.js";
import type { StartRow } from "./reading.js";
import { RowWindow, type WindowPosition } from "./row-window.js";
import type { RunSignals } from "./run-signals.js";
import type { Tally } from "./tally.js";

/** Rows held between reading and writing at most, and bytes of input and large answers among them. */
const windowBounds = { rows: 4096, bytes: 32 * 1024 * 1024 };

/** Rows whose lookups are under way at most: enough that those that back off leave no slot empty. */
const unsettledBounds = { least: 512, perRequest: 4 };

/** So many rows are begun at once, so that cached answers are written while the processor has them. */
const begunAtOnce = 32;

/** How long an interrupted run waits for open requests, and for its output, in milliseconds. */
const graceMs = 5_000;

export interface RowMoveOptions {
  readonly source: Pick<OpenedSource, "rows">;
  /** Says what a row's item is and starts its lookup, where it needs one. */
  readonly start: StartRow;
  readonly sink: Pick<Sink, "write">;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly ordered: boolean;
  /** Most requests open at once. */
  readonly concurrency: number;
  /** Of the lookups that `start` makes. */
  readonly slots?: Slots;
  readonly signals: RunSignals;
  /** Rows of this input that are written already although rows before them are not. */
  readonly skip: ReadonlySet<number>;
  /** Offset in the input at which reading began. */
  readonly startOffset: number;
  readonly onRead: (row: Row) => void;
  /** Called after each batch was given to the sink, and once at the end with `last` true. */
  readonly onWritten: (position: WindowPosition, last: boolean) => Promise<void>;
}

/**
 * Moves every row of the source through its lookup into the sink. Whatever ends it, finished rows
 * whose turn it is are written first.
 *
 * @throws the reason of the run's stop, or what made reading, looking up or writing impossible
 */
export async function moveRows(options: RowMoveOptions): Promise<void> {
  const { source, skip, signals } = options;
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
    await readAll(source, window, skip, start);
    await window.drained();
    await options.onWritten(window.position(), true);
  } catch (error) {
    await windDown(error, window, options);
    throw error;
  }
}

function windowFor(options: RowMoveOptions): RowWindow {
  const { sink, tally, ordered, slots, concurrency, startOffset } = options;
  const { least, perRequest } = unsettledBounds;
  const window: RowWindow = new RowWindow(
    {
      capacity: windowBounds.rows,
      capacityUnsettled: Math.max(least, perRequest * concurrency),
      capacityBytes: windowBounds.bytes,
      slots,
      ordered,
      async write(rows) {
        await sink.write(rows);
        for (const row of rows) tally.row(row);
        await options.onWritten(window.position(), false);
      },
    },
    startOffset,
  );
  return window;
}

/** Stops the lookups, lets open requests end, and writes the rows that are finished. */
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
  // A sink that failed cannot take more.
  if (window.failure?.writing) return;
  const flushed = window
    .flush()
    .then(() => options.onWritten(window.position(), true))
    .catch(() => undefined);
  // A reader that takes nothing more (`| less`) must not hold an interrupted run.
  await (interrupted.aborted ? within(graceMs, flushed, clock) : flushed);
}

async function readAll(
  source: Pick<OpenedSource, "rows">,
  window: RowWindow,
  skip: ReadonlySet<number>,
  start: (row: Row) => void,
): Promise<void> {
  const rows = source.rows[Symbol.asyncIterator]();
  let begun = 0;
  for (;;) {
    // A source that waits for bytes (stdin) is left as soon as the window comes to an end.
    const step = await new Promise<IteratorResult<readonly Row[]>>((resolve, reject) => {
      window.onFailure(reject);
      rows.next().then(resolve, reject);
    });
    if (step.done) return;
    for (const row of step.value) {
      if (window.full) {
        await window.space();
        begun = 0;
      } else if (window.failure !== null) throw window.failure.error;
      if (++begun === begunAtOnce) {
        await turn();
        begun = 0;
      }
      if (!skip.has(row.number)) start(row);
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
