import { setImmediate as turn } from "node:timers/promises";
import type { Slots } from "../../../client/pace/slots.js";
import { raceAbort } from "../../../core/abort.js";
import type { Clock } from "../../../core/clock.js";
import { EarlyEndError } from "../../../core/errors.js";
import { type Finding, largeBytes } from "../../../core/finding.js";
import type { Item } from "../../../core/item/item.js";
import type { EnrichedRow, LeftOutReason, Row } from "../../../core/row.js";
import type { OpenedSource } from "../../../io/input/types.js";
import type { Sink } from "../../../io/output/text/text-sink.js";
import type { RunSignals } from "../run-signals.js";
import type { Tally } from "../tally.js";
import type { StartRow } from "../types.js";

/** Maximum rows between reading and writing, and their bytes (input and large answers). */
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
  /** Number of the last row that is already written. The source gives rows before it again. */
  readonly written: number;
  /** Why a row is not written; null if it is. @default all are */
  readonly leftOut?: ((row: EnrichedRow) => LeftOutReason | null) | undefined;
  /** Called with the number of the last row that the source has given. */
  readonly onReceived?: (row: number) => void;
  /** Called before the lookup of a row starts. */
  readonly onRead: (row: Row) => void;
  /** Called after each batch passed to the sink, and once at the end with `last` true. */
  readonly onWritten: (last: boolean) => Promise<void>;
}

/**
 * Moves every row from the source through its lookup into the sink. However it ends, finished rows
 * that are next in order are written first.
 *
 * @throws the reason the run was stopped, or the error that prevented reading, lookup or writing
 */
export async function moveRows(options: RowMoveOptions): Promise<void> {
  const { signals, sink, tally, slots, concurrency, leftOut, onRead, onWritten } = options;
  const { least, perRequest } = pendingBounds;
  const bounds = {
    capacity: windowBounds.rows,
    capacityUnsettled: Math.max(least, perRequest * concurrency),
    capacityBytes: windowBounds.bytes,
    slots,
  };
  const write = async (rows: readonly EnrichedRow[]): Promise<void> => {
    await sink.write(leftOut === undefined ? rows : writtenOf(rows, leftOut, tally.written));
    for (const row of rows) tally.row(row, leftOut?.(row));
    await onWritten(false);
  };
  const window = new RowWindow({ ...bounds, write });
  const onStop = (): void => window.fail(signals.stop.reason);
  signals.stop.addEventListener("abort", onStop, { once: true });
  if (signals.stop.aborted) onStop();
  const start = (row: Row): void => {
    onRead(row);
    const { item, finding } = options.start(row, signals.stop);
    window.add(row, item, finding);
  };
  try {
    await readAll(options, window, start);
    await window.drained();
    await onWritten(true);
  } catch (error) {
    await windDown(error, window, options);
    throw error;
  }
}

/** The rows that are not left out, numbered. @param before those written before them */
function writtenOf(
  rows: readonly EnrichedRow[],
  leftOut: NonNullable<RowMoveOptions["leftOut"]>,
  before: number,
): readonly EnrichedRow[] {
  const kept = rows.filter((row) => leftOut(row) === null);
  let written = before;
  return kept.map(({ row, item, finding }) => ({ row, item, finding, written: ++written }));
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
    .then(() => options.onWritten(true))
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
    const step = await raceAbort(rows.next(), window.failed);
    if (step.done) return;
    onReceived?.(step.value.at(-1)?.number ?? 0);
    for (const row of step.value) {
      if (row.number <= written) continue;
      if (window.full) {
        await window.space();
        begun = 0;
      } else if (window.failure !== null) throw window.failure.error;
      if (++begun === startBatch) {
        await turn();
        begun = 0;
      }
      start(row);
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

interface RowWindowOptions {
  /** Maximum number of rows held, from `add` until written. */
  readonly capacity: number;
  /**
   * Maximum number of rows with a pending lookup, queued ones included. Far smaller than
   * `capacity`: the window fills only when one slow row holds up the rows behind it.
   */
  readonly capacityUnsettled: number;
  /** Tells when enough lookups are queued. */
  readonly slots?: Pick<Slots, "crowded" | "onRoom"> | undefined;
  /** Maximum bytes of input and large answers held. A single row may exceed it. */
  readonly capacityBytes: number;
  /** Writes a batch. Never called again before it resolves. */
  readonly write: (rows: readonly EnrichedRow[]) => Promise<void>;
}

interface Entry {
  readonly row: Row;
  readonly item: Item | null;
  /** Bytes of input, plus those of a large answer. */
  weight: number;
  finding: Finding | null;
}

/**
 * Holds the rows between reading and writing: lookups finish in any order, rows leave in input
 * order. Bounded in rows and bytes, so memory does not grow with the input.
 */
export class RowWindow {
  /** Null until the window fails. */
  failure: { readonly error: unknown; readonly writing: boolean } | null = null;
  readonly #options: RowWindowOptions;
  readonly #failed = new AbortController();
  /** Aborted when the window fails. */
  readonly failed: AbortSignal = this.#failed.signal;
  /** Those not yet passed to the writer, in input order. */
  #entries: Entry[] = [];
  /** Number of the first ones that have a finding. */
  #ready = 0;
  #rows = 0;
  #bytes = 0;
  #pumping = false;
  #pumped: Promise<void> = Promise.resolve();
  #unsettled = 0;
  #onAllSettled: (() => void) | null = null;
  /** The pending `space` or `drained` call of the reader; there is only one reader. */
  #waiter: { ready(): boolean; resolve(): void; reject(error: unknown): void } | null = null;

  constructor(options: RowWindowOptions) {
    this.#options = options;
    options.slots?.onRoom(() => this.#wake());
  }

  /** True if the next row has to wait for `space`. */
  get full(): boolean {
    return (
      this.#rows >= this.#options.capacity ||
      this.#unsettled >= this.#options.capacityUnsettled ||
      this.#options.slots?.crowded === true ||
      (this.#bytes >= this.#options.capacityBytes && this.#rows > 0)
    );
  }

  /** Resolves when another row may be added. @throws the error that failed the window */
  space(): Promise<void> {
    return this.#wait(() => !this.full);
  }

  /** Resolves when every added row is written. @throws the error that failed the window */
  drained(): Promise<void> {
    return this.#wait(() => this.#rows === 0 && !this.#pumping);
  }

  /** Adds a row with its finding or its pending lookup. A rejected lookup fails the window. */
  add(row: Row, item: Item | null, finding: Finding | Promise<Finding>): void {
    const entry: Entry = { row, item, weight: row.size, finding: null };
    this.#entries.push(entry);
    this.#rows++;
    this.#bytes += row.size;
    if (!(finding instanceof Promise)) {
      this.#settle(entry, finding);
      return;
    }
    this.#unsettled++;
    finding.then(
      (found) => {
        this.#settle(entry, found);
        this.#settledOne();
      },
      (error: unknown) => {
        this.fail(error);
        this.#settledOne();
      },
    );
  }

  /** Resolves when no lookup is pending. */
  allSettled(): Promise<void> {
    if (this.#unsettled === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onAllSettled = resolve));
  }

  /** Fails the window. `flush` can still write finished rows, unless writing itself failed. */
  fail(error: unknown, writing = false): void {
    if (this.failure !== null && !writing) return;
    this.failure = { error: this.failure?.error ?? error, writing };
    this.#failed.abort(error);
    this.#wake();
  }

  /** After a failure: writes the finished rows that are next in order. */
  async flush(): Promise<void> {
    await this.#pumped;
    await this.#writeReady();
  }

  #settle(entry: Entry, finding: Finding): void {
    entry.finding = finding;
    const bytes = largeBytes(finding);
    entry.weight += bytes;
    this.#bytes += bytes;
    while (this.#entries[this.#ready]?.finding) this.#ready++;
    if (this.#ready === 0 || this.#pumping || this.failure !== null) return;
    this.#pumping = true;
    // Defer by one turn, so that rows that finish together are written together.
    this.#pumped = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#pump());
  }

  async #pump(): Promise<void> {
    try {
      while (this.#ready > 0 && this.failure === null) await this.#writeReady();
      this.#pumping = false;
      this.#wake();
    } catch (error) {
      this.#pumping = false;
      this.fail(error, true);
    }
  }

  #settledOne(): void {
    this.#unsettled--;
    if (this.#unsettled === 0) this.#onAllSettled?.();
    this.#wake();
  }

  async #writeReady(): Promise<void> {
    if (this.#ready === 0) return;
    const entries = this.#entries.splice(0, this.#ready);
    this.#ready = 0;
    // Every ready entry has its finding.
    const rows = entries.map(({ row, item, finding }) => ({ row, item, finding: finding! }));
    await this.#options.write(rows);
    for (const entry of entries) {
      this.#rows--;
      this.#bytes -= entry.weight;
    }
    this.#wake();
  }

  #wait(ready: () => boolean): Promise<void> {
    if (this.failure !== null) return Promise.reject(this.failure.error);
    if (ready()) return Promise.resolve();
    return new Promise((resolve, reject) => (this.#waiter = { ready, resolve, reject }));
  }

  #wake(): void {
    const waiter = this.#waiter;
    if (waiter === null || (this.failure === null && !waiter.ready())) return;
    this.#waiter = null;
    if (this.failure === null) waiter.resolve();
    else waiter.reject(this.failure.error);
  }
}
