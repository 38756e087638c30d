import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row.js";
import {
  checkpointTableName,
  type DialectName,
  quoteIdentifier,
  quoteTable,
  type TableName,
} from "./dialect.js";
import type { Query } from "./table-database.js";
import type { WarehouseAudit, RunIdentity } from "./types.js";

/** A run's rows in a table and its checkpoint note. */
export class RunRows {
  readonly #runId: string;
  readonly #table: string;
  readonly #notes: string;
  readonly #column: (name: string) => string;

  /** @param table including its schema */
  constructor(dialect: DialectName, table: TableName, { runId, prefix }: RunIdentity) {
    this.#runId = runId;
    this.#table = quoteTable(dialect, table);
    this.#notes = quoteTable(dialect, { ...table, name: checkpointTableName });
    this.#column = (name) => quoteIdentifier(dialect, prefix + name);
  }

  async note(query: Query): Promise<string | null> {
    const [found] = await query(`SELECT note FROM ${this.#notes} WHERE run_id = $1`, [this.#runId]);
    return found === undefined ? null : String(found[0]);
  }

  async saveNote(query: Query, note: string): Promise<void> {
    await query(
      `INSERT INTO ${this.#notes} (run_id, note, saved_at) VALUES ($1, $2, now())
       ON CONFLICT (run_id) DO UPDATE SET note = excluded.note, saved_at = excluded.saved_at`,
      [this.#runId, note],
    );
  }

  async removeNote(query: Query): Promise<void> {
    await query(`DELETE FROM ${this.#notes} WHERE run_id = $1`, [this.#runId]);
  }

  async removeRows(query: Query): Promise<void> {
    await query(`DELETE FROM ${this.#table} WHERE ${this.#column("run_id")} = $1`, [this.#runId]);
  }

  /** Removes rows that only took up space, which an interruption may leave. */
  async removeFiller(query: Query): Promise<void> {
    await query(
      `DELETE FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 AND ${this.#column("row")} < 0`,
      [this.#runId],
    );
  }

  /** Whether a row is there. */
  async has(query: Query, row: number): Promise<boolean> {
    const found = await query(
      `SELECT 1 FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 AND ${this.#column("row")} = $2`,
      [this.#runId, row],
    );
    return found.length > 0;
  }

  /**
   * Counts the rows by status and verdict.
   * @param display name of the table for messages
   * @throws FatalError `output_corrupt` if rows have an unknown status or verdict
   */
  async audit(query: Query, display: string): Promise<WarehouseAudit> {
    const counts = await query(
      `SELECT ${this.#column("status")}, ${this.#column("verdict")}, count(*)
       FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 AND ${this.#column("row")} > 0
       GROUP BY 1, 2`,
      [this.#runId],
    );
    return auditCounts(
      counts.map(([status = null, verdict = null, rows]) => ({
        status,
        verdict,
        rows: Number(rows),
      })),
      display,
    );
  }

  /** Number of the run's rows. */
  async count(query: Query): Promise<number> {
    const [found] = await query(
      `SELECT count(*) FROM ${this.#table} WHERE ${this.#column("run_id")} = $1`,
      [this.#runId],
    );
    return Number(found?.[0] ?? 0);
  }
}

/** Number of rows with this status and verdict; null for none. */
export interface OutcomeCount {
  readonly status: unknown;
  readonly verdict: unknown;
  readonly rows: number;
}

/**
 * Sums up a run's counts from a warehouse.
 * @param display name of the table for messages
 * @throws FatalError `output_corrupt` if rows have an unknown status or verdict
 */
export function auditCounts(counts: readonly OutcomeCount[], display: string): WarehouseAudit {
  const counter = new RowCounter();
  for (const { status, verdict, rows } of counts) {
    const fault = counter.count(status, verdict, rows);
    if (fault !== null) throw new FatalError("output_corrupt", `${display} has rows with ${fault}`);
  }
  return { bytes: null, ...counter.found(), sha256: null };
}
