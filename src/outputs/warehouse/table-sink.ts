import { stat } from "node:fs/promises";
import { FatalError } from "../../core/errors.js";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import type { CellReader } from "./cell-values.js";
import { type BatchBounds, ColumnBatch } from "./column-batch.js";
import type { TableName } from "./dialect.js";
import type { RunRows } from "./run-rows.js";
import type { TableDatabase, TableSession, TableTarget } from "./table-database.js";
import type { TableSchema } from "./table-schema.js";
import type { WarehouseAudit } from "./types.js";

/** Characters that wait for a checkpoint before one is asked for. */
const fullAt = 8 * 1024 * 1024;

/** Rows that go to a database in one piece: DuckDB's vectors hold 2,048. */
const pieceBounds: BatchBounds = { rows: 2_048, characters: fullAt };

export interface TableSinkParts {
  readonly database: TableDatabase;
  readonly target: TableTarget;
  /** With the schema that it is in. */
  readonly table: TableName;
  readonly schema: TableSchema;
  readonly readers: readonly CellReader[];
  readonly runId: string;
  readonly run: RunRows;
  /** Rows of the run that the table holds already. */
  readonly rows: number;
}

/**
 * Writes rows to a table of a database. They are kept until a checkpoint, which commits them
 * together with its note; where the connection is lost on the way, they go again over the next one,
 * unless the database says that they are there.
 */
export class TableSink implements Sink {
  readonly #parts: TableSinkParts;
  #rows: number;
  #pieces: ColumnBatch[] = [];
  /** Number of one row that waits: all of them are there or none. */
  #sample = 0;

  constructor(parts: TableSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  get full(): boolean {
    return this.#pieces.reduce((sum, { characters }) => sum + characters, 0) >= fullAt;
  }

  // Nothing to wait for: the checkpoint is the back-pressure.
  async write(rows: readonly EnrichedRow[]): Promise<void> {
    for (const row of rows) {
      let piece = this.#pieces.at(-1);
      if (piece === undefined || piece.full) {
        piece = new ColumnBatch(this.#parts.readers, pieceBounds);
        this.#pieces.push(piece);
      }
      piece.add(row);
      this.#sample = row.row.number;
    }
  }

  async checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition> {
    const rows = this.#rows + this.#waiting;
    const position = { length: rows, rows };
    if (note === undefined && this.#waiting === 0) return position;
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
    this.#pieces = [];
    await this.#parts.database.close();
  }

  /** Rows that are not committed yet. */
  get #waiting(): number {
    return this.#pieces.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** Commits the rows that wait, and what else belongs to them, exactly once. */
  async #commit(rest: (session: TableSession) => Promise<void>): Promise<void> {
    const { database, runId, run } = this.#parts;
    const waiting = this.#waiting;
    await database.transaction(async (session, again) => {
      await session.lock(`run ${runId}`);
      // What was lost may have been no more than the answer to COMMIT.
      if (again && waiting > 0 && (await run.has(session.query, this.#sample))) return;
      if (waiting > 0) await this.#load(session, waiting);
      await rest(session);
    });
    this.#rows += waiting;
    this.#pieces = [];
  }

  async #load(session: TableSession, waiting: number): Promise<void> {
    const { table, schema, target } = this.#parts;
    const taken = await session.load(table, schema.columns, this.#pieces);
    if (taken === waiting) return;
    throw new FatalError("rows_lost", `${target.display} took ${taken} of ${waiting} rows`);
  }
}
