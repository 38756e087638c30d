import { DatabaseSync, type StatementSyncInstance } from "@photostructure/sqlite";
import { type Item, type ItemKind, itemKinds } from "../../core/item/item.js";
import type { Database } from "../sqlite.js";
import type { ExpiredRank } from "./expired-rank.js";

/** An item whose cached answer has expired. */
export interface ExpiredItem extends ExpiredRank {
  readonly item: Item;
  /** The first row that holds it. */
  readonly row: number;
}

/** Items between two turns of the event loop. */
const batchSize = 512;

type QueueRow = readonly [place: number, kind: number, value: string, row: number];

/**
 * Orders expired items: those with a verdict against them, then the oldest. It keeps them in a
 * temporary file that SQLite removes, so memory does not grow with their number.
 */
export class RefreshQueue {
  readonly #database: Database = new DatabaseSync("");
  readonly #insert: StatementSyncInstance;
  #size = 0;

  constructor() {
    this.#database.exec(`
      PRAGMA journal_mode = OFF;
      PRAGMA cache_size = -4096;
      CREATE TABLE items (
        kind INTEGER, value TEXT, row INTEGER, accused INTEGER, stored INTEGER,
        PRIMARY KEY (kind, value)
      ) STRICT, WITHOUT ROWID;
      BEGIN;`);
    this.#insert = this.#database.prepare("INSERT OR IGNORE INTO items VALUES (?, ?, ?, ?, ?)");
  }

  /** Number of items. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item, unless an earlier row had it. */
  add({ item, row, accused, storedAt }: ExpiredItem): void {
    const kind = itemKinds.indexOf(item.kind);
    const place = [kind, item.value, row, accused ? 1 : 0, Math.floor(storedAt)];
    this.#size += this.#insert.run(...place).changes;
  }

  /** The items in order. Nothing can be added any more. */
  *inOrder(): Generator<Pick<ExpiredItem, "item" | "row">> {
    this.#database.exec(`
      CREATE TABLE ordered (place INTEGER PRIMARY KEY, kind INTEGER, value TEXT, row INTEGER) STRICT;
      INSERT INTO ordered (kind, value, row)
        SELECT kind, value, row FROM items ORDER BY accused DESC, stored, row;
      COMMIT;`);
    const select = this.#database.prepare(
      `SELECT place, kind, value, row FROM ordered WHERE place > ? ORDER BY place LIMIT ${batchSize}`,
    );
    select.setReturnArrays(true);
    for (let last: number | undefined = 0; last !== undefined;) {
      const rows = queueRows(select, last);
      for (const [, kind, value, row] of rows) {
        yield { item: { kind: itemKinds[kind] as ItemKind, value }, row };
      }
      last = rows.at(-1)?.[0];
    }
  }

  close(): void {
    this.#database.close();
  }
}

function queueRows(select: StatementSyncInstance, behind: number): readonly QueueRow[] {
  return select.all(behind);
}
