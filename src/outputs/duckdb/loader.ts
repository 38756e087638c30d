import { quoteIdentifier, quoteTable, sqlType, type TableName } from "../warehouse/dialect.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import type { TableSchema } from "../warehouse/table-schema.js";
import type { DuckdbDatabase, DuckdbDriver } from "./duckdb-database.js";
import type { DuckDBAppender, DuckDBDataChunk, DuckDBValue } from "@duckdb/node-api";
import type { ColumnType } from "../../core/columns.js";
import type { CellValue } from "../warehouse/cell-values.js";

/** Moves batches into a table, within a transaction. */
export interface Loader {
  /** To be called when a transaction has begun. */
  begin(): Promise<void>;
  append(batch: ColumnBatch): void;
  /** To be called before the transaction is committed. */
  end(): Promise<void>;
}

/**
 * The way into a table: straight where it has our columns and no others, in whatever order. An
 * appender could not leave other columns to their defaults, so that rows for such a table go by way
 * of a temporary one.
 *
 * @param found the table's columns, in its order
 */
export async function openLoader(
  database: DuckdbDatabase,
  table: TableName,
  schema: TableSchema,
  found: readonly string[],
): Promise<Loader> {
  if (found.length > schema.columns.length) return new StagingLoader(database, table, schema);
  const places = new Map(schema.columns.map(({ name }, index) => [name.toLowerCase(), index]));
  const columns = found.map((name) => {
    const index = places.get(name.toLowerCase())!;
    return { index, type: schema.columns[index]!.type };
  });
  const appender = await database.appender(table);
  return new TableLoader(new ChunkAppender(database, appender, columns));
}

class TableLoader implements Loader {
  readonly #appender: ChunkAppender;

  constructor(appender: ChunkAppender) {
    this.#appender = appender;
  }

  begin(): Promise<void> {
    return Promise.resolve();
  }

  append(batch: ColumnBatch): void {
    this.#appender.append(batch);
  }

  async end(): Promise<void> {
    this.#appender.flush();
  }
}

const stagingName = "repute_staging";

class StagingLoader implements Loader {
  readonly #database: DuckdbDatabase;
  readonly #schema: TableSchema;
  readonly #into: string;
  #appender: ChunkAppender | null = null;

  constructor(database: DuckdbDatabase, table: TableName, schema: TableSchema) {
    const names = schema.columns.map(({ name }) => quoteIdentifier("duckdb", name));
    this.#database = database;
    this.#schema = schema;
    this.#into = `${quoteTable("duckdb", table)} (${names.join(", ")})`;
  }

  async begin(): Promise<void> {
    const { columns } = this.#schema;
    const definitions = columns.map(({ type }, index) => `c${index} ${sqlType("duckdb", type)}`);
    await this.#database.run(`CREATE TEMPORARY TABLE ${stagingName} (${definitions.join(", ")})`);
    const appender = await this.#database.appender({ schema: "main", name: stagingName }, "temp");
    const appended = columns.map(({ type }, index) => ({ index, type }));
    this.#appender = new ChunkAppender(this.#database, appender, appended);
  }

  append(batch: ColumnBatch): void {
    this.#appender?.append(batch);
  }

  async end(): Promise<void> {
    this.#appender?.close();
    this.#appender = null;
    await this.#database.run(`INSERT INTO ${this.#into} SELECT * FROM temp.main.${stagingName}`);
    await this.#database.run(`DROP TABLE temp.main.${stagingName}`);
  }
}

/** A column of a table that is appended to. */
interface AppendedColumn {
  /** Which column of a batch goes there. */
  readonly index: number;
  readonly type: ColumnType;
}

/** Hands batches over to an appender, column by column. */
class ChunkAppender {
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
