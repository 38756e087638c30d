import { type Finding, largeBytes } from "../../core/finding.js";
import type { Item } from "../../core/item/item.js";
import type { EnrichedRow, Row } from "../../core/row.js";
import type { Slots } from "../../lookup/pace/slots.js";

export interface RowWindowOptions {
  /** Most rows held at once, from being added until being written. */
  readonly capacity: number;
  /**
   * Most rows whose lookups are under way, waiting ones included. Far fewer than `capacity`: only a
   * row that holds up those behind it makes the window fill.
   */
  readonly capacityUnsettled: number;
  /** Says when enough lookups wait for their turn. */
  readonly slots?: Pick<Slots, "crowded" | "onRoom"> | undefined;
  /** Most bytes of input and of large answers held at once; one row may exceed it alone. */
  readonly capacityBytes: number;
  /** Write rows in the order they were added; otherwise as their lookups finish. */
  readonly ordered: boolean;
  /** Writes a batch; no other call begins before it resolves. */
  readonly write: (rows: readonly EnrichedRow[]) => Promise<void>;
}

/** What of the input is written, for a checkpoint. */
export interface WindowPosition {
  /** The last row before which everything is written; null when there is none yet. */
  readonly last: Row | null;
  /** Numbers of the rows behind `last` that are written already (only when unordered). */
  readonly ahead: readonly number[];
}

/** Why a window has come to an end, and whether writing was the reason. */
interface WindowFailure {
  readonly error: unknown;
  readonly writing: boolean;
}

interface Entry {
  readonly row: Row;
  readonly item: Item | null;
  /** Bytes of input, and of the answer where that is large. */
  weight: number;
  finding: Finding | null;
  written: boolean;
  next: Entry | null;
}

/**
 * Holds the rows between reading and writing: lookups finish in any order, rows leave in input
 * order. Bounded in rows and bytes, so that neither what runs nor what waits grows with the input.
 */
export class RowWindow {
  /** Null while the window goes on. */
  failure: WindowFailure | null = null;
  readonly #options: RowWindowOptions;
  /** Oldest entry not yet written; entries are linked in input order. */
  #oldest: Entry | null = null;
  #newest: Entry | null = null;
  /** Oldest entry not yet handed to the writer (ordered). */
  #nextReady: Entry | null = null;
  #ready: Entry[] = [];
  #rows = 0;
  #bytes = 0;
  #lastEnd = 0;
  #lastWritten: Row | null = null;
  #pumping = false;
  #pumped: Promise<void> = Promise.resolve();
  #onFailure: ((error: unknown) => void) | null = null;
  #unsettled = 0;
  #onAllSettled: (() => void) | null = null;
  /** The reader of the input, which waits for space or for the end; there is only one. */
  #waiter: { ready(): boolean; resolve(): void; reject(error: unknown): void } | null = null;

  constructor(options: RowWindowOptions, resumeFrom = 0) {
    this.#options = options;
    this.#lastEnd = resumeFrom;
    options.slots?.onRoom(() => this.#wake());
  }

  /** True when the next row has to wait for `space`. */
  get full(): boolean {
    return (
      this.#rows >= this.#options.capacity ||
      this.#unsettled >= this.#options.capacityUnsettled ||
      this.#options.slots?.crowded === true ||
      (this.#bytes >= this.#options.capacityBytes && this.#rows > 0)
    );
  }

  /** Tells one listener, the latest, that the window has come to an end. */
  onFailure(listener: (error: unknown) => void): void {
    this.#onFailure = listener;
    if (this.failure !== null) listener(this.failure.error);
  }

  /** Resolves when another row may be added. @throws what made a lookup or a write fail */
  space(): Promise<void> {
    return this.#wait(() => !this.full);
  }

  /** Resolves when every row added is written. @throws what made a lookup or a write fail */
  drained(): Promise<void> {
    return this.#wait(() => this.#rows === 0 && !this.#pumping);
  }

  /** Takes a row with its finding, or with its lookup under way; a rejection fails the window. */
  add(row: Row, item: Item | null, finding: Finding | Promise<Finding>): void {
    const entry = this.#append(row, item);
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

  /** Resolves when no lookup is under way any more. */
  allSettled(): Promise<void> {
    if (this.#unsettled === 0) return Promise.resolve();
    return new Promise((resolve) => (this.#onAllSettled = resolve));
  }

  /**
   * Ends the window and rejects its waiter. Finished rows can still be written by `flush`, unless
   * writing is what failed.
   */
  fail(error: unknown, writing = false): void {
    if (this.failure !== null && !writing) return;
    this.failure = { error: this.failure?.error ?? error, writing };
    this.#onFailure?.(this.failure.error);
    this.#wake();
  }

  /** After an end: writes what is finished and next in order, and resolves when that is done. */
  async flush(): Promise<void> {
    await this.#pumped;
    await this.#writeReady();
  }

  /** What of the input is written; exact between two calls of `write`. */
  position(): WindowPosition {
    const ahead: number[] = [];
    // In order nothing is written before what comes before it.
    const first = this.#options.ordered ? null : this.#oldest;
    for (let entry = first; entry !== null; entry = entry.next) {
      if (entry.written) ahead.push(entry.row.number);
    }
    return { last: this.#lastWritten, ahead };
  }

  #append(row: Row, item: Item | null): Entry {
    const weight = Math.max(0, row.end - this.#lastEnd);
    this.#lastEnd = row.end;
    const entry: Entry = { row, item, weight, finding: null, written: false, next: null };
    if (this.#newest === null) this.#oldest = entry;
    else this.#newest.next = entry;
    this.#newest = entry;
    this.#nextReady ??= entry;
    this.#rows++;
    this.#bytes += weight;
    return entry;
  }

  #settle(entry: Entry, finding: Finding): void {
    entry.finding = finding;
    const bytes = largeBytes(finding);
    entry.weight += bytes;
    this.#bytes += bytes;
    if (this.#options.ordered) {
      let next = this.#nextReady;
      while (next !== null && next.finding !== null) {
        this.#ready.push(next);
        next = next.next;
      }
      this.#nextReady = next;
    } else {
      this.#ready.push(entry);
    }
    if (this.#ready.length === 0 || this.#pumping || this.failure !== null) return;
    this.#pumping = true;
    // One turn later, so that what finishes together is written together.
    this.#pumped = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#pump());
  }

  async #pump(): Promise<void> {
    try {
      while (this.#ready.length > 0 && this.failure === null) await this.#writeReady();
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
    const entries = this.#ready;
    if (entries.length === 0) return;
    this.#ready = [];
    // Only what is settled gets ready.
    const rows = entries.map(({ row, item, finding }) => ({ row, item, finding: finding! }));
    for (const entry of entries) entry.written = true;
    while (this.#oldest?.written) {
      const gone: Entry = this.#oldest;
      this.#lastWritten = gone.row;
      this.#oldest = gone.next;
      // One that has grown old would keep all that came after it from the collector's quick passes.
      gone.next = null;
    }
    if (this.#oldest === null) this.#newest = null;
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
