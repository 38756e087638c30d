import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "../../core/clock.js";
import { EarlyEndError } from "../../core/errors.js";
import type { Row } from "../../core/row.js";
import type { Backlog } from "../../lookup/pace/backlog.js";
import type { Sink } from "../../outputs/types.js";
import type { OpenedSource } from "../../inputs/types.js";
import type { BeginRow } from "./begin-row.js";
import { RowWindow } from "./row-window.js";
import type { WindowPosition } from "./row-window.js";
import type { Tally } from "./tally.js";

/** Rows held between reading and writing at most, and bytes of input and large answers among them. */
const windowBounds = { rows: 4096, bytes: 32 * 1024 * 1024 };

/** Rows whose lookups are under way at most: enough that those that back off leave no slot empty. */
const unsettledBounds = { least: 512, perRequest: 4 };

/**
 * So many rows are begun, then the others get on: what is answered at once, from a cache, is written
 * while it is in the processor's own.
 */
const begunAtOnce = 32;

/** How long an interrupted run waits for open requests, and for its output, in milliseconds. */
const graceMs = 5_000;

export interface RunParts {
  readonly source: OpenedSource;
  /** Says what a row's item is and begins its lookup, where it needs one. */
  readonly begin: BeginRow;
  readonly sink: Sink;
  readonly tally: Tally;
  readonly clock: Clock;
  readonly ordered: boolean;
  /** Most requests open at once. */
  readonly concurrency: number;
  /** Of the lookups that `begin` makes. */
  readonly backlog?: Backlog;
  /** Aborting it ends the run cleanly with the signal's reason. */
  readonly signal: AbortSignal;
  /** Aborting it ends the run too, but only once the requests that are open are answered. */
  readonly early?: AbortSignal;
  /** Aborted when open requests shall end at once. */
  readonly requests: AbortController;
  /** Rows of this input that are written already although rows before them are not. */
  readonly skip: ReadonlySet<number>;
  /** Offset in the input at which reading began. */
  readonly startOffset: number;
  readonly onRead: (row: Row) => void;
  /** Called after each batch was given to the sink, and once at the end with `last` true. */
  readonly onWritten: (position: WindowPosition, last: boolean) => Promise<void>;
}

/**
 * Moves every row of the source through its lookup into the sink. Knows contracts only.
 *
 * Whatever ends it, rows whose lookups are finished and whose turn it is are written first.
 *
 * @throws the signal's reason, or what made reading, looking up or writing impossible
 */
export async function run(parts: RunParts): Promise<void> {
  const { source, sink, tally, clock, signal, requests } = parts;
  // Waits of lookups (slot, pace, back-off) end with this one, open requests with `requests`.
  const waits = new AbortController();
  const window: RowWindow = new RowWindow(
    {
      capacity: windowBounds.rows,
      capacityUnsettled: Math.max(
        unsettledBounds.least,
        unsettledBounds.perRequest * parts.concurrency,
      ),
      capacityBytes: windowBounds.bytes,
      backlog: parts.backlog,
      ordered: parts.ordered,
      async write(rows) {
        await sink.write(rows);
        for (const row of rows) tally.row(row);
        await parts.onWritten(window.position(), false);
      },
    },
    parts.startOffset,
  );
  const start = (row: Row): void => {
    parts.onRead(row);
    const { item, finding } = parts.begin(row, waits.signal);
    if (finding instanceof Promise) window.add(row, item, finding);
    else window.addSettled(row, item, finding);
  };
  const onAbort = (): void => window.fail(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const onEarly = (): void => window.fail(parts.early?.reason);
  parts.early?.addEventListener("abort", onEarly, { once: true });

  try {
    await readAll(source, window, parts.skip, start);
    await window.drained();
    await parts.onWritten(window.position(), true);
  } catch (error) {
    waits.abort(error);
    window.fail(error);
    const settled = window.allSettled();
    if (!signal.aborted && error instanceof EarlyEndError) await untilAborted(settled, signal);
    if (signal.aborted) await within(graceMs, settled, clock);
    requests.abort(error);
    await settled;
    // A sink that failed cannot take more; anything else leaves what is finished in the output.
    if (!window.failure?.writing) {
      const flushed = window
        .flush()
        .then(() => parts.onWritten(window.position(), true))
        .catch(() => undefined);
      // A reader that takes nothing more (`| less`) shall not hold an interrupted run.
      await (signal.aborted ? within(graceMs, flushed, clock) : flushed);
    }
    throw error;
  } finally {
    signal.removeEventListener("abort", onAbort);
    parts.early?.removeEventListener("abort", onEarly);
    await source.close();
  }
}

async function readAll(
  source: OpenedSource,
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

/** Waits for `settled`, or until the signal aborts. */
async function untilAborted(settled: Promise<void>, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    signal.addEventListener("abort", done, { once: true });
    void settled.then(done);
  });
}
