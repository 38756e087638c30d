import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row.js";
import { type DialectName, quoteIdentifier, quoteTable, type TableName } from "./dialect.js";
import type { Query } from "./table-database.js";
import type { Audit } from "../audit-output.js";
import type { RunIdentity } from "./types.js";

/** A run's rows in a table. */
export class RunRows {
  readonly #runId: string;
  readonly #table: string;
  readonly #column: (name: string) => string;

  /** @param table including its schema */
  constructor(dialect: DialectName, table: TableName, { runId, prefix }: RunIdentity) {
    this.#runId = runId;
    this.#table = quoteTable(dialect, table);
    this.#column = (name) => quoteIdentifier(dialect, prefix + name);
  }

  /**
   * Counts the rows by status and verdict.
   * @param display name of the table for messages
   * @throws FatalError `output_corrupt` if rows have an unknown status or verdict
   */
  async audit(query: Query, display: string): Promise<Audit> {
    const counts = await query(
      `SELECT ${this.#column("status")}, ${this.#column("verdict")}, count(*)
       FROM ${this.#table} WHERE ${this.#column("run_id")} = $1 GROUP BY 1, 2`,
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
export function auditCounts(counts: readonly OutcomeCount[], display: string): Audit {
  const counter = new RowCounter();
  for (const { status, verdict, rows } of counts) {
    const fault = counter.count(status, verdict, rows);
    if (fault !== null) throw new FatalError("output_corrupt", `${display} has rows with ${fault}`);
  }
  return { bytes: null, ...counter.found(), sha256: null };
}
