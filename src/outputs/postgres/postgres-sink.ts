import type { RunRows } from "../warehouse/run-rows.js";
import { FatalError } from "../../core/errors.js";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import type { WarehouseAudit } from "../warehouse/types.js";
import type { BinaryCopy } from "./binary-copy.js";
import type { Connection } from "./connection.js";
import { faultCode, uniqueViolation } from "./server-fault.js";
import type { Session } from "./session.js";

/** Bytes that wait for a checkpoint before one is asked for. */
const fullAt = 8 * 1024 * 1024;

export interface PostgresSinkParts {
  readonly connection: Connection;
  readonly runId: string;
  readonly run: RunRows;
  /** Takes the rows until they are committed. */
  readonly batch: BinaryCopy;
  /** COPY … FROM STDIN of the table's columns. */
  readonly copyStatement: string;
  /** What to call the table in messages. */
  readonly display: string;
  /** Rows of the run that the table holds already. */
  readonly rows: number;
}

/**
 * Copies rows into a PostgreSQL table. They are kept until a checkpoint, which commits them
 * together with its note; where the connection is lost on the way, they go again over the next one,
 * unless the database says that they are there.
 */
export class PostgresSink implements Sink {
  readonly #parts: PostgresSinkParts;
  /** Rows that are committed. */
  #rows: number;
  /** Number of one row in the batch: a batch is there whole or not at all. */
  #sample = 0;

  constructor(parts: PostgresSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  /** True when a checkpoint should be made now, so that what waits for it stays small. */
  get full(): boolean {
    return this.#parts.batch.bytes >= fullAt;
  }

  // Nothing to wait for: the checkpoint is the back-pressure.
  write(rows: readonly EnrichedRow[]): Promise<void> {
    for (const row of rows) this.#parts.batch.add(row);
    this.#sample = rows.at(-1)?.row.number ?? this.#sample;
    return Promise.resolve();
  }

  async checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition> {
    const { batch, run } = this.#parts;
    const rows = this.#rows + batch.rows;
    const position = { length: rows, rows };
    if (note === undefined && batch.rows === 0) return position;
    const text = note?.(position);
    await this.#commit(async (session) => {
      if (text !== undefined) await run.saveNote(session.query, text);
    });
    return position;
  }

  async audit(): Promise<WarehouseAudit> {
    const { connection, run, display } = this.#parts;
    return connection.transaction((session) => run.audit(session.query, display));
  }

  async finish(suffix = ""): Promise<SinkResult> {
    const { connection, run } = this.#parts;
    await this.#commit(async (session) => {
      if (suffix === "") await run.removeNote(session.query);
    });
    await connection.end();
    return { path: null, bytes: 0, rows: this.#rows };
  }

  async abandon(): Promise<void> {
    this.#parts.batch.clear();
    await this.#parts.connection.end();
  }

  /** Commits the batch, and what else belongs to it, exactly once. */
  async #commit(rest: (session: Session) => Promise<void>): Promise<void> {
    const { connection, batch, runId, run } = this.#parts;
    await connection.transaction(async (session, again) => {
      await session.lockRun(runId);
      // What was lost may have been no more than the answer to COMMIT.
      if (again && batch.rows > 0 && (await run.has(session.query, this.#sample))) return;
      if (batch.rows > 0) await this.#copy(session);
      await rest(session);
    });
    this.#rows += batch.rows;
    batch.clear();
  }

  async #copy(session: Session): Promise<void> {
    const { batch, copyStatement, display } = this.#parts;
    let taken: number;
    try {
      taken = await session.copy(copyStatement, batch.data());
    } catch (error) {
      if (faultCode(error) !== uniqueViolation) throw error;
      throw new FatalError(
        "output_table_differs",
        `${display} has rows of this run that this run did not write`,
        { cause: error, hint: "start anew with --restart" },
      );
    }
    if (taken !== batch.rows) {
      throw new FatalError("rows_lost", `${display} took ${taken} of ${batch.rows} rows`);
    }
  }
}
