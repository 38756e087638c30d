import { stat } from "node:fs/promises";
import { FatalError } from "../../core/errors.js";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import type { CellReader } from "./cell-values.js";
import { type BatchBounds, ColumnBatch, boundsOf } from "./column-batch.js";
import type { TableName } from "./dialect.js";
import type { RunRows } from "./run-rows.js";
import type { TableDatabase, TableSession, TableTarget } from "./table-database.js";
import type { TableSchema } from "./table-schema.js";
import type { WarehouseAudit } from "./types.js";

/** Buffered characters at which a checkpoint is requested. */
export const checkpointAt = 8 * 1024 * 1024;

/** Size of a batch sent to a database. DuckDB's vectors hold 2,048 rows. */
const chunkBounds: BatchBounds = { rows: 2_048, characters: checkpointAt };

export interface TableSinkParts {
  readonly database: TableDatabase;
  readonly target: TableTarget;
  /** Including its schema. */
  readonly table: TableName;
  readonly schema: TableSchema;
  readonly readers: readonly CellReader[];
  readonly runId: string;
  readonly run: RunRows;
  /** Rows of the run already in the table. */
  readonly rows: number;
}

/**
 * Writes rows to a database table. Rows are buffered until a checkpoint, which commits them
 * together with its note. If the connection is lost, they are sent again over the next one, unless
 * the database already has them.
 */
export class TableSink implements Sink {
  readonly #parts: TableSinkParts;
  #rows: number;
  #batches: ColumnBatch[] = [];
  /** Number of one buffered row; they are all committed or none is. */
  #sample = 0;

  constructor(parts: TableSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  get full(): boolean {
    return boundsOf(this.#batches).characters >= checkpointAt;
  }

  // Resolves at once; the checkpoint provides the back-pressure.
  async write(rows: readonly EnrichedRow[]): Promise<void> {
    for (const row of rows) {
      let batch = this.#batches.at(-1);
      if (batch === undefined || batch.full) {
        batch = new ColumnBatch(this.#parts.readers, chunkBounds);
        this.#batches.push(batch);
      }
      batch.add(row);
      this.#sample = row.row.number;
    }
  }

  async checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition> {
    const rows = this.#rows + this.#pendingRows;
    const position = { length: rows, rows };
    if (note === undefined && this.#pendingRows === 0) return position;
    const text = note?.(position);
    await this.#commit(async ({ query }) => {
      if (text !== undefined) await this.#parts.run.saveNote(query, text);
    });
    return position;
  }

  audit(): Promise<WarehouseAudit> {
    const { database, run, target } = this.#parts;
    return database.transaction(({ query }) => run.audit(query, target.display));
  }

  async finish(suffix = ""): Promise<SinkResult> {
    const { database, run, target } = this.#parts;
    await this.#commit(async ({ query }) => {
      if (suffix === "") await run.removeNote(query);
    });
    await database.settle?.();
    await database.close();
    const bytes = target.file === null ? 0 : (await stat(target.file)).size;
    return { path: target.file, bytes, rows: this.#rows };
  }

  async abandon(): Promise<void> {
    this.#batches = [];
    await this.#parts.database.close();
  }

  /** Rows not yet committed. */
  get #pendingRows(): number {
    return boundsOf(this.#batches).rows;
  }

  /** Commits the buffered rows and the result of `rest`, exactly once. */
  async #commit(rest: (session: TableSession) => Promise<void>): Promise<void> {
    const { database, runId, run } = this.#parts;
    const pending = this.#pendingRows;
    await database.expect?.(boundsOf(this.#batches));
    await database.transaction(async (session, again) => {
      await session.lock(`run ${runId}`);
      // Only the confirmation of COMMIT may have been lost.
      if (again && pending > 0 && (await run.has(session.query, this.#sample))) return;
      if (pending > 0) await this.#load(session, pending);
      await rest(session);
    });
    this.#rows += pending;
    this.#batches = [];
  }

  async #load(session: TableSession, pending: number): Promise<void> {
    const { table, schema, target } = this.#parts;
    const taken = await session.load(table, schema.columns, this.#batches);
    if (taken === pending) return;
    throw new FatalError("rows_lost", `${target.display} stored ${taken} of ${pending} rows`, {
      hint: "check the table for triggers or rules that drop rows, then continue with --resume",
    });
  }
}
