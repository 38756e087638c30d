import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { corrupt, type Database } from "./database.js";
import { type QuotaStore, type Reservation, type ReserveOptions, windowOf } from "./quota.js";

/** File format version. Increase when the layout changes. */
const version = 6;

/**
 * The permits of each quota, by slot: the ID of a reservation, or a thousandth of the window, which
 * bounds their number. The time of the counts, and the wall clock then; when earlier counts were lost.
 */
const schema = `
  CREATE TABLE permits (
    quota TEXT NOT NULL, slot TEXT NOT NULL, permits INTEGER NOT NULL, last_ms REAL NOT NULL,
    open INTEGER NOT NULL, checksum INTEGER NOT NULL, PRIMARY KEY (quota, slot)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE time (
    ms REAL NOT NULL, clock_ms REAL NOT NULL, lost_ms REAL, entries INTEGER NOT NULL, checksum INTEGER NOT NULL
  ) STRICT;`;

export interface QuotaUse {
  readonly spent: number;
  /** When the next permits may become free: at the end of a reservation or of its window. */
  readonly nextAtMs: number;
}

/** Processes read the clock before they wait for the file, so a little disorder is no jump. */
const disorderMs = 60_000;

/** Permits of a quota, and the latest time at which they were or may be used, in milliseconds since 1970. */
interface Entry {
  readonly quota: string;
  readonly slot: string;
  readonly permits: number;
  readonly lastMs: number;
  /** Whether they are reserved, not used yet. */
  readonly open: boolean;
}

interface Time {
  readonly ms: number;
  readonly clockMs: number;
  readonly lostMs: number | null;
}

/**
 * The counts of a service's quotas: in memory, or rows that are changed in a transaction.
 *
 * They have a time of their own, which never goes back: if the wall clock jumps back, it goes on
 * from where it was, and if the clock returns, both agree again. So what was spent before a jump,
 * or after it, is neither forgotten when the clock is set right nor counted for longer.
 */
export class QuotaCounts {
  readonly #database: Database | null;
  readonly #entries = new Map<string, Entry>();
  #time: Time;

  /** @param lostMs when earlier counts were lost: every quota counts as used up then. Null for never */
  constructor(lostMs: number | null = null, database: Database | null = null) {
    this.#database = database;
    this.#time = { ms: lostMs ?? 0, clockMs: lostMs ?? 0, lostMs };
  }

  /** Creates empty counts. */
  static create(database: Database, lostMs: number | null): void {
    database.exec(`${schema} PRAGMA user_version = ${version};`);
    const time = [lostMs ?? 0, lostMs ?? 0, lostMs, 0];
    database.prepare("INSERT INTO time VALUES (?, ?, ?, ?, ?)").run(...time, sumOf(time));
  }

  /** @throws an error of SQLite's code for damage if the counts are not as this version kept them */
  static in(database: Database): QuotaCounts {
    const counts = new QuotaCounts(null, database);
    const found = database.prepare("SELECT *, user_version FROM time, pragma_user_version").get();
    const row = (found ?? {}) as Record<string, number | null>;
    const { ms, clock_ms, lost_ms, entries, checksum, user_version: by } = row;
    const isSound = by === version && checksum === sumOf([ms, clock_ms, lost_ms, entries]);
    if (!isSound) throw corrupt("its time is damaged");
    counts.#time = { ms, clockMs: clock_ms, lostMs: lost_ms } as Time;
    const rows = database.prepare("SELECT * FROM permits").all() as Record<string, unknown>[];
    if (rows.length !== entries) throw corrupt("entries are missing");
    for (const { quota, slot, permits, last_ms, open, checksum: sum } of rows) {
      if (sum !== sumOf([quota, slot, permits, last_ms, open])) throw corrupt("a wrong entry");
      const entry = { quota, slot, permits, lastMs: last_ms, open: open === 1 } as Entry;
      counts.#entries.set(idOf(entry), entry);
    }
    return counts;
  }

  reserve(quota: string, options: ReserveOptions): Reservation {
    const { rate, want, nowMs, untilMs, before } = options;
    if (before !== undefined) this.settle(quota, before.id, before.used, nowMs);
    const timeMs = this.#keepTime(nowMs);
    for (const entry of this.#entriesOf(quota)) {
      if (entry.lastMs + rate.perMs <= timeMs) this.#remove(entry);
    }
    const { spent, nextAtMs } = this.use(quota, options);
    const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
    const slot = randomUUID();
    const lastMs = Math.ceil(timeMs + untilMs - nowMs);
    if (permits > 0) this.#put({ quota, slot, permits, lastMs, open: true });
    return { permits, id: slot, nextAtMs };
  }

  /** Settles a reservation: `used` of its permits were used. */
  settle(quota: string, id: string, used: number, nowMs: number): void {
    const reserved = this.#entries.get(idOf({ quota, slot: id }));
    if (reserved === undefined) return;
    this.#remove(reserved);
    if (used === 0) return;
    const usedMs = Math.ceil(Math.min(reserved.lastMs, this.#keepTime(nowMs)));
    const slot = String(Math.floor(usedMs / (windowOf(quota) / 1000)));
    const known = this.#entries.get(idOf({ quota, slot }));
    if (known !== undefined) this.#remove(known);
    const permits = (known?.permits ?? 0) + used;
    const lastMs = Math.max(known?.lastMs ?? 0, usedMs);
    this.#put({ quota, slot, permits, lastMs, open: false });
  }

  use(quota: string, { rate, nowMs }: Pick<ReserveOptions, "rate" | "nowMs">): QuotaUse {
    const { lostMs } = this.#time;
    const entries: Pick<Entry, "permits" | "lastMs" | "open">[] = this.#entriesOf(quota);
    if (lostMs !== null) entries.push({ permits: rate.count, lastMs: lostMs, open: false });
    const timeMs = this.#timeAt(nowMs);
    let [spent, nextMs] = [0, Number.POSITIVE_INFINITY];
    for (const { permits, lastMs, open } of entries) {
      if (lastMs + rate.perMs <= timeMs) continue;
      spent += permits;
      nextMs = Math.min(nextMs, lastMs + (open && lastMs > timeMs ? 0 : rate.perMs));
    }
    return { spent, nextAtMs: nextMs - timeMs + nowMs };
  }

  /** The time of the counts when the wall clock shows `clockMs`. */
  #timeAt(clockMs: number): number {
    const { ms, clockMs: before } = this.#time;
    return clockMs >= ms ? clockMs : ms + Math.max(0, clockMs - before);
  }

  #keepTime(clockMs: number): number {
    const ms = this.#timeAt(clockMs);
    const { clockMs: before } = this.#time;
    const disordered = clockMs < before && clockMs >= before - disorderMs;
    if (!disordered) this.#time = { ...this.#time, ms, clockMs };
    return ms;
  }

  #entriesOf(quota: string): Entry[] {
    return [...this.#entries.values()].filter((entry) => entry.quota === quota);
  }

  #put(entry: Entry): void {
    const { quota, slot, permits, lastMs, open } = entry;
    this.#entries.set(idOf(entry), entry);
    const row = [quota, slot, permits, lastMs, open ? 1 : 0];
    this.#run("INSERT INTO permits VALUES (?, ?, ?, ?, ?, ?)", ...row, sumOf(row));
  }

  #remove(entry: Entry): void {
    this.#entries.delete(idOf(entry));
    this.#run("DELETE FROM permits WHERE quota = ? AND slot = ?", entry.quota, entry.slot);
  }

  /** Writes the time. Call this at the end of a transaction. */
  keep(): void {
    const { ms, clockMs, lostMs } = this.#time;
    const row = [ms, clockMs, lostMs, this.#entries.size];
    const set = "ms = ?, clock_ms = ?, lost_ms = ?, entries = ?, checksum = ?";
    this.#run(`UPDATE time SET ${set}`, ...row, sumOf(row));
  }

  #run(sql: string, ...values: readonly (number | string | null)[]): void {
    this.#database?.prepare(sql).run(...values);
  }
}

function idOf({ quota, slot }: Pick<Entry, "quota" | "slot">): string {
  return `${quota} ${slot}`;
}

function sumOf(values: readonly unknown[]): number {
  return crc32(JSON.stringify(values));
}

/** Counts quotas in memory, for the life of the process. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #counts = new QuotaCounts();

  reserve(name: string, options: ReserveOptions): Reservation {
    return this.#counts.reserve(name, options);
  }

  settle(name: string, id: string, used: number, nowMs: number): void {
    this.#counts.settle(name, id, used, nowMs);
  }
}
