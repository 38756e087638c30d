import type { RunRows } from "../warehouse/run-rows.js";
import { stat } from "node:fs/promises";
import type { EnrichedRow } from "../../core/row.js";
import type { Sink, SinkPosition, SinkResult } from "../types.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import type { WarehouseAudit } from "../warehouse/types.js";
import type { DuckdbDatabase } from "./duckdb-database.js";
import type { Loader } from "./loader.js";

export interface DuckdbSinkParts {
  readonly target: DuckdbTarget;
  readonly database: DuckdbDatabase;
  readonly loader: Loader;
  /** Takes rows until there are enough to hand over. */
  readonly batch: ColumnBatch;
  readonly run: RunRows;
  /** Rows of the run that the table holds already. */
  readonly rows: number;
}

/** Characters in a transaction before a checkpoint is asked for: DuckDB holds them in memory. */
const fullAt = 32 * 1024 * 1024;

/**
 * Appends to a table of a DuckDB file. Rows and the note of the run's checkpoint are committed
 * together, so that neither is ever there without the other.
 */
export class DuckdbSink implements Sink {
  readonly #parts: DuckdbSinkParts;
  #rows: number;
  /** A transaction is open, which the next checkpoint commits; without one it is undone. */
  #begun = false;
  /** Characters that the transaction holds. */
  #characters = 0;

  constructor(parts: DuckdbSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
  }

  /** True when a checkpoint should be made now, so that what waits for it stays small. */
  get full(): boolean {
    return this.#characters + this.#parts.batch.characters >= fullAt;
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    const { batch } = this.#parts;
    for (const row of rows) {
      batch.add(row);
      if (batch.full) await this.#append();
    }
    this.#rows += rows.length;
  }

  async checkpoint(note?: (position: SinkPosition) => string): Promise<SinkPosition> {
    const { database, batch, loader, run } = this.#parts;
    const position = { length: this.#rows, rows: this.#rows };
    if (batch.rows > 0) await this.#append();
    if (this.#begun) await loader.end();
    else if (note === undefined) return position;
    else await database.run("BEGIN TRANSACTION");
    if (note !== undefined) await run.saveNote(database.query, note(position));
    await database.run("COMMIT");
    this.#begun = false;
    this.#characters = 0;
    return position;
  }

  audit(): Promise<WarehouseAudit> {
    const { database, run, target } = this.#parts;
    return run.audit(database.query, target.display);
  }

  async finish(suffix = ""): Promise<SinkResult> {
    const { database, run, target } = this.#parts;
    await this.checkpoint();
    if (suffix === "") await run.removeNote(database.query);
    await database.run("CHECKPOINT");
    database.close();
    const { size } = await stat(target.file);
    return { path: target.file, bytes: size, rows: this.#rows };
  }

  abandon(): Promise<void> {
    this.#parts.database.close();
    return Promise.resolve();
  }

  async #append(): Promise<void> {
    const { database, batch, loader } = this.#parts;
    if (!this.#begun) {
      await database.run("BEGIN TRANSACTION");
      this.#begun = true;
      await loader.begin();
    }
    loader.append(batch);
    this.#characters += batch.characters;
    batch.clear();
  }
}
