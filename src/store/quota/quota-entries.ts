import { randomUUID } from "node:crypto";
import { crc32 } from "node:zlib";
import { DatabaseSync } from "@photostructure/sqlite";
import type { Database } from "../sqlite.js";
import { corruptCode } from "../store-fault.js";
import { type QuotaStore, type Reservation, type ReserveOptions, windowOf } from "./quota.js";

/** File format version. Increase when the layout changes. */
const version = 3;

/**
 * Permits, and the latest time at which they were or may be used, in milliseconds since 1970. `open`
 * is 1 for a reservation, whose slot is its ID. Other slots are a thousandth of the window, which
 * bounds their number.
 */
const schema = `
  CREATE TABLE entries (
    quota TEXT, slot TEXT, permits INTEGER, last_ms INTEGER, open INTEGER,
    PRIMARY KEY (quota, slot)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE seal (checksum INTEGER) STRICT;
  INSERT INTO seal VALUES (0);
  PRAGMA user_version = ${version};`;

/** Name of the entry that counts against every quota. */
const everyQuota = "*";

/** Larger than any quota. */
const exhausted = 1e15;

/**
 * An entry this far past any current reservation was written by a clock that was ahead and has been
 * corrected. It counts from now on instead.
 */
const clockAheadMs = 60_000;

/**
 * Creates the tables of a service's counts.
 * @param lostMs when earlier counts were lost: every quota counts as used up then; null for none
 */
export function createEntries(database: Database, lostMs: number | null): void {
  database.exec(schema);
  if (lostMs === null) return;
  add(database, { quota: everyQuota, slot: "", permits: exhausted, lastMs: lostMs, open: 0 });
}

/** Counts of the life of the process; see `createEntries`. */
export function inMemory(lostMs: number | null): Database {
  const database = new DatabaseSync(":memory:");
  createEntries(database, lostMs);
  return database;
}

/** Counts quotas in memory, for the life of the process. */
export class MemoryQuotaStore implements QuotaStore {
  readonly #database = inMemory(null);

  reserve(name: string, options: ReserveOptions): Reservation {
    return reserveIn(this.#database, name, options, randomUUID());
  }

  settle(name: string, id: string, used: number, nowMs: number): void {
    settleIn(this.#database, name, id, used, nowMs);
  }
}

/** Reserves permits from what a quota has left. */
export function reserveIn(
  database: Database,
  quota: string,
  options: ReserveOptions,
  id: string,
): Reservation {
  const { rate, want, nowMs, untilMs, before } = options;
  if (before !== undefined) settleIn(database, quota, before.id, before.used, nowMs);
  database
    .prepare("DELETE FROM entries WHERE quota = ? AND last_ms + ? <= ?")
    .run(quota, rate.perMs, nowMs);
  database
    .prepare("UPDATE entries SET last_ms = ?, open = 0 WHERE quota IN (?, ?) AND last_ms > ?")
    .run(Math.ceil(untilMs), quota, everyQuota, untilMs + clockAheadMs);
  const { spent, nextAtMs } = useOf(database, quota, options);
  const permits = Math.max(0, Math.min(want, Math.floor(rate.count) - spent));
  if (permits > 0) add(database, { quota, slot: id, permits, lastMs: untilMs, open: 1 });
  return { permits, id, nextAtMs };
}

/** Settles a reservation: `used` of its permits were used. */
export function settleIn(
  database: Database,
  quota: string,
  id: string,
  used: number,
  nowMs: number,
): void {
  const found = database
    .prepare("DELETE FROM entries WHERE quota = ? AND slot = ? RETURNING last_ms AS lastMs")
    .get(quota, id) as { readonly lastMs: number } | undefined;
  if (found === undefined || used === 0) return;
  const lastMs = Math.min(found.lastMs, nowMs);
  const slot = String(Math.floor(lastMs / (windowOf(quota) / 1000)));
  add(database, { quota, slot, permits: used, lastMs, open: 0 });
}

/** How much of a quota is used. */
export interface QuotaUse {
  readonly spent: number;
  /** When the next permits may become free: at the end of a reservation or of its window. */
  readonly nextAtMs: number;
}

export function useOf(
  database: Database,
  quota: string,
  { rate, nowMs }: Pick<ReserveOptions, "rate" | "nowMs">,
): QuotaUse {
  const use = database
    .prepare(
      `SELECT total(permits) AS spent,
         min(min(last_ms, :ahead) + iif(open AND last_ms > :now, 0, :window)) AS nextAtMs
       FROM entries WHERE quota IN (:quota, '${everyQuota}') AND last_ms + :window > :now`,
    )
    .get({ quota, now: nowMs, window: rate.perMs, ahead: nowMs + clockAheadMs });
  return use as QuotaUse;
}

/** @throws an error of SQLite's code for damage if the counts are not as this version sealed them */
export function refuseDamaged(database: Database): void {
  const isSound =
    valueOf(database, "PRAGMA user_version") === version &&
    valueOf(database, "SELECT checksum FROM seal") === checksumOf(database);
  if (!isSound) throw Object.assign(new Error("damaged"), { errcode: corruptCode });
}

/** Seals the counts, so that none can be lost or changed unnoticed. */
export function sealEntries(database: Database): void {
  database.prepare("UPDATE seal SET checksum = ?").run(checksumOf(database));
}

function checksumOf(database: Database): number {
  const rows = "json_group_array(json_array(quota, slot, permits, last_ms, open))";
  return crc32(String(valueOf(database, `SELECT ${rows} FROM entries`)));
}

/** The only value of a query's first row; undefined if there is none. */
function valueOf(database: Database, query: string): unknown {
  return Object.values((database.prepare(query).get() ?? {}) as object)[0];
}

/** Adds an entry, or adds its permits to those of its slot. */
function add(
  database: Database,
  entry: {
    readonly quota: string;
    readonly slot: string;
    readonly permits: number;
    readonly lastMs: number;
    readonly open: number;
  },
): void {
  database
    .prepare(
      `INSERT INTO entries VALUES (:quota, :slot, :permits, :lastMs, :open) ON CONFLICT DO UPDATE
       SET permits = permits + excluded.permits, last_ms = max(last_ms, excluded.last_ms)`,
    )
    .run({ ...entry, lastMs: Math.ceil(entry.lastMs) });
}
