import type { CellValue, TypedColumn } from "../../formats/typed-column.js";
import type * as duckdb from "@duckdb/node-api";
import type { DuckDBConnection, DuckDBInstance, DuckDBResult, DuckDBValue } from "@duckdb/node-api";
import type { ColumnType } from "../../core/columns.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import { quoteIdentifier, quoteTable, sqlType, type TableName } from "../warehouse/dialect.js";
import { loadDriver } from "../../core/load-driver.js";
import type { FoundColumn } from "../warehouse/prepare-table.js";
import type {
  ConnectOptions,
  FoundTable,
  Query,
  TableDatabase,
  TableSession,
} from "../warehouse/table-database.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import { duckdbFault } from "./duckdb-fault.js";

type DuckdbDriver = typeof duckdb;

interface DuckdbParts {
  readonly driver: DuckdbDriver;
  readonly explain: (error: unknown) => Error;
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
}

/**
 * DuckDB takes most of the machine by default. Beyond this memory limit it spills to a folder
 * beside the file. Nothing is downloaded.
 */
const settings = { memory_limit: "512MB", threads: "2", autoinstall_known_extensions: "false" };

/** Temporary table for loading, so that the target table can have other columns in any order. */
const staging = "repute_staging";

/** An open DuckDB file. All its errors are explained. */
export class DuckdbDatabase implements TableDatabase, TableSession {
  readonly #parts: DuckdbParts;
  #open = true;

  private constructor(parts: DuckdbParts) {
    this.#parts = parts;
  }

  /** @throws UsageError `driver_missing`, `output_*`; FatalError `output_*` */
  static async open(
    { file, display }: DuckdbTarget,
    { access }: Pick<ConnectOptions, "access">,
  ): Promise<DuckdbDatabase> {
    const driver = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
    const explain = (error: unknown): Error => duckdbFault(display, error, access);
    try {
      const instance = await driver.DuckDBInstance.create(file, {
        ...settings,
        access_mode: access === "read" ? "READ_ONLY" : "READ_WRITE",
      });
      const connection = await instance.connect();
      return new DuckdbDatabase({ driver, explain, instance, connection });
    } catch (error) {
      throw explain(error);
    }
  }

  readonly query: Query = async (sql, values = []) => {
    try {
      const result = await this.#parts.connection.runAndReadAll(sql, [...values]);
      return result.getRows() as (string | bigint | null)[][];
    } catch (error) {
      throw this.#parts.explain(error);
    }
  };

  /** Starts a statement whose rows are fetched chunk by chunk. Errors are those of DuckDB. */
  start(sql: string): Promise<DuckDBResult> {
    return this.#parts.connection.stream(sql);
  }

  /** The same, with explained errors. */
  stream(sql: string): Promise<DuckDBResult> {
    return this.start(sql).catch((error: unknown) => {
      throw this.#parts.explain(error);
    });
  }

  /** How many statements a text has, and whether the first one selects. Errors are those of DuckDB. */
  async statement(sql: string): Promise<{ readonly count: number; readonly isSelect: boolean }> {
    const { driver, connection } = this.#parts;
    const extracted = await connection.extractStatements(sql);
    if (extracted.count !== 1) return { count: extracted.count, isSelect: false };
    const prepared = await extracted.prepare(0);
    const isSelect = prepared.statementType === driver.StatementType.SELECT;
    prepared.destroySync();
    return { count: 1, isSelect };
  }

  explain(error: unknown): Error {
    return this.#parts.explain(error);
  }

  async transaction<T>(work: (session: TableSession, isRetry: boolean) => Promise<T>): Promise<T> {
    await this.query("BEGIN TRANSACTION");
    try {
      const result = await work(this, false);
      await this.query("COMMIT");
      return result;
    } catch (error) {
      await this.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  // DuckDB locks the file: no other process can open it.
  lock(): Promise<void> {
    return Promise.resolve();
  }

  async find({ schema, name }: TableName): Promise<FoundTable | null> {
    const [found] = await this.query(
      `SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database()
       AND lower(table_schema) = lower($1) AND lower(table_name) = lower($2)`,
      [schema ?? "main", name],
    );
    return found === undefined
      ? null
      : { schema, notTable: found[0] === "VIEW" ? "is a view" : null };
  }

  async schemaFor({ schema }: TableName): Promise<string | null | undefined> {
    const found = await this.query(
      "SELECT 1 FROM duckdb_schemas() WHERE database_name = current_database() AND lower(schema_name) = lower($1)",
      [schema ?? "main"],
    );
    return found.length === 0 ? undefined : schema;
  }

  async columnsOf({ schema, name }: TableName): Promise<readonly FoundColumn[]> {
    const rows = await this.query(
      `SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database()
       AND lower(schema_name) = lower($1) AND lower(table_name) = lower($2)`,
      [schema ?? "main", name],
    );
    return rows.map(([column, type]) => ({ name: String(column), type: String(type) }));
  }

  hasKey(): Promise<boolean> {
    return Promise.resolve(true);
  }

  async load(
    table: TableName,
    columns: readonly TypedColumn[],
    batches: readonly ColumnBatch[],
  ): Promise<number> {
    const definitions = columns.map(({ type }, index) => `c${index} ${sqlType("duckdb", type)}`);
    await this.query(`CREATE TEMPORARY TABLE ${staging} (${definitions.join(", ")})`);
    await this.#stage(columns, batches);
    const names = columns.map(({ name }) => quoteIdentifier("duckdb", name)).join(", ");
    const [taken] = await this.query(
      `INSERT INTO ${quoteTable("duckdb", table)} (${names}) SELECT * FROM temp.main.${staging}`,
    );
    await this.query(`DROP TABLE temp.main.${staging}`);
    return Number(taken?.[0]);
  }

  async #stage(columns: readonly TypedColumn[], batches: readonly ColumnBatch[]): Promise<void> {
    try {
      const appender = await this.#parts.connection.createAppender(staging, "main", "temp");
      const types = columns.map((_, index) => appender.columnType(index));
      // Reused, because the chunk's memory is outside the JavaScript heap and not garbage collected
      // in time.
      const chunk = this.#parts.driver.DuckDBDataChunk.create(types);
      for (const batch of batches) {
        chunk.reset();
        chunk.rowCount = batch.rows;
        columns.forEach(({ type }, index) => {
          chunk.setColumnValues(index, valuesOf(this.#parts.driver, type, batch.columns[index]!));
        });
        appender.appendDataChunk(chunk);
      }
      appender.closeSync();
    } catch (error) {
      throw this.#parts.explain(error);
    }
  }

  async settle(): Promise<void> {
    await this.query("CHECKPOINT");
  }

  close(): Promise<void> {
    if (this.#open) {
      this.#open = false;
      this.#parts.connection.closeSync();
      this.#parts.instance.closeSync();
    }
    return Promise.resolve();
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
