import type { DuckDBAppender, DuckDBDataChunk, DuckDBValue } from "@duckdb/node-api";
import type { ColumnType } from "../../core/columns.js";
import type { CellValue } from "../warehouse/cell-values.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import type { DuckdbDatabase, DuckdbDriver } from "./duckdb-database.js";

/** A column of a table that is appended to. */
export interface AppendedColumn {
  /** Which column of a batch goes there. */
  readonly index: number;
  readonly type: ColumnType;
}

/** Hands batches over to an appender, column by column. */
export class ChunkAppender {
  readonly #database: DuckdbDatabase;
  readonly #appender: DuckDBAppender;
  readonly #columns: readonly AppendedColumn[];
  /** Used again and again: what it holds is outside of JavaScript's memory, which would not notice. */
  readonly #chunk: DuckDBDataChunk;

  /** @param columns those of the appender's table, in its order */
  constructor(
    database: DuckdbDatabase,
    appender: DuckDBAppender,
    columns: readonly AppendedColumn[],
  ) {
    this.#database = database;
    this.#appender = appender;
    this.#columns = columns;
    const types = columns.map((_, index) => appender.columnType(index));
    this.#chunk = database.driver.DuckDBDataChunk.create(types);
  }

  /** Appends a batch, of no more rows than DuckDB's vectors have (2,048). */
  append(batch: ColumnBatch): void {
    const { driver } = this.#database;
    this.#database.guard(() => {
      this.#chunk.reset();
      this.#chunk.rowCount = batch.rows;
      for (let at = 0; at < this.#columns.length; at++) {
        const { index, type } = this.#columns[at]!;
        this.#chunk.setColumnValues(at, valuesOf(driver, type, batch.columns[index]!));
      }
      this.#appender.appendDataChunk(this.#chunk);
    });
  }

  flush(): void {
    this.#database.guard(() => this.#appender.flushSync());
  }

  close(): void {
    this.#database.guard(() => this.#appender.closeSync());
  }
}

function valuesOf(
  driver: DuckdbDriver,
  type: ColumnType,
  values: readonly CellValue[],
): readonly DuckDBValue[] {
  if (type === "timestamp") {
    return values.map((value) =>
      value === null ? null : new driver.DuckDBTimestampTZValue(value as bigint),
    );
  }
  if (type === "text[]") {
    return values.map((value) =>
      value === null ? null : new driver.DuckDBListValue(value as readonly string[]),
    );
  }
  return values as readonly (string | bigint | boolean | null)[];
}
