import type { FactsCount } from "../warehouse/audit-counts.js";
import { checkpointTableName, quoteIdentifier, quoteTable } from "../warehouse/dialect.js";
import type { TableName } from "../warehouse/dialect.js";
import type { WarehouseRun } from "../warehouse/types.js";
import type { Session } from "./session.js";

/** What is kept of one run: its rows in a table and the note of its checkpoint. */
export class RunRows {
  readonly #runId: string;
  readonly #table: string;
  readonly #notes: string;
  readonly #prefix: string;
  readonly #hasVerdicts: boolean;

  /** @param table with the schema that it is in */
  constructor(table: TableName, { runId, prefix, hasVerdicts = true }: WarehouseRun) {
    this.#runId = runId;
    this.#prefix = prefix;
    this.#hasVerdicts = hasVerdicts;
    this.#table = quoteTable("postgres", table);
    this.#notes = quoteTable("postgres", { ...table, name: checkpointTableName });
  }

  /**
   * Waits until no other transaction writes for this run: one of a connection that was lost may
   * still be under way. Held until the end of the transaction.
   */
  async lock(session: Session): Promise<void> {
    await session.rows("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [
      `repute run ${this.#runId}`,
    ]);
  }

  async note(session: Session): Promise<string | null> {
    const [found] = await session.rows<{ note: string }>(
      `SELECT note FROM ${this.#notes} WHERE run_id = $1`,
      [this.#runId],
    );
    return found?.note ?? null;
  }

  async saveNote(session: Session, note: string): Promise<void> {
    await session.rows(
      `INSERT INTO ${this.#notes} AS saved (run_id, note, saved_at) VALUES ($1, $2, now())
       ON CONFLICT (run_id) DO UPDATE SET note = excluded.note, saved_at = excluded.saved_at`,
      [this.#runId, note],
    );
  }

  async removeNote(session: Session): Promise<void> {
    await session.rows(`DELETE FROM ${this.#notes} WHERE run_id = $1`, [this.#runId]);
  }

  async removeRows(session: Session): Promise<void> {
    await session.rows(`DELETE FROM ${this.#table} WHERE ${this.#column("run_id")} = $1`, [
      this.#runId,
    ]);
  }

  /** Whether a row is there. */
  async has(session: Session, row: number): Promise<boolean> {
    const found = await session.rows(
      `SELECT 1 FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 AND ${this.#column("row")} = $2`,
      [this.#runId, row],
    );
    return found.length > 0;
  }

  /** Rows by status and verdict. */
  async counts(session: Session): Promise<readonly FactsCount[]> {
    const verdict = this.#hasVerdicts ? this.#column("verdict") : "NULL::text";
    const found = await session.rows<Omit<FactsCount, "rows"> & { n: string }>(
      `SELECT ${this.#column("status")} AS status, ${verdict} AS verdict, count(*) AS n
       FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 GROUP BY 1, 2`,
      [this.#runId],
    );
    return found.map(({ status, verdict, n }) => ({ status, verdict, rows: Number(n) }));
  }

  #column(name: string): string {
    return quoteIdentifier("postgres", this.#prefix + name);
  }
}
