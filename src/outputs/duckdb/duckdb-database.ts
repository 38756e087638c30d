import type { TypedColumn } from "../../formats/typed-column.js";
import type { DuckDBResult } from "@duckdb/node-api";
import { type ColumnBatch, boundsOf } from "../warehouse/column-batch.js";
import { quoteIdentifier, quoteTable, type TableName } from "../warehouse/dialect.js";
import { loadDriver } from "../../core/load-driver.js";
import type {
  ConnectOptions,
  FoundColumn,
  FoundTable,
  LoadSize,
  Query,
  SavedRun,
  TableDatabase,
  TableSession,
} from "../warehouse/table-database.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import { duckdbFault } from "./duckdb-fault.js";
import {
  deleteFiller,
  fillerFor,
  isLarge,
  selectFiller,
  selectLargeRows,
  vectorRows,
} from "./large-rows.js";
import { type DuckdbDriver, limitMemory, openDuckdb, type OpenDuckdb } from "./open-duckdb.js";
import { staging, stageRows } from "./stage-rows.js";

interface DuckdbParts extends OpenDuckdb {
  readonly driver: DuckdbDriver;
  readonly explain: (error: unknown) => Error;
  /** Opens the file again, with row groups of this size. */
  readonly open: (groupRows: number | null) => Promise<OpenDuckdb>;
  /** Rows in a new row group; null for DuckDB's own number. */
  readonly groupRows: number | null;
}

/** An open DuckDB file. All its errors are explained. */
export class DuckdbDatabase implements TableDatabase, TableSession {
  #parts: DuckdbParts;
  #open = true;
  /** Removes the filler of the transaction, once that is committed. */
  #unfill: string | null = null;
  /** Whether large rows are read while they are written. */
  #isFrugal = false;

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
    const open = (groupRows: number | null) =>
      openDuckdb(driver, file, { access, groupRows }).catch((error: unknown) => {
        throw explain(error);
      });
    const opened = await open(null);
    return new DuckdbDatabase({ driver, explain, open, ...opened, groupRows: null });
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
      await this.#removeFiller();
      return result;
    } catch (error) {
      this.#unfill = null;
      await this.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async largeRows(
    table: TableName,
    run: SavedRun,
    statuses: readonly string[],
  ): Promise<ReadonlyMap<number, number>> {
    const texts = (await this.columnsOf(table)).filter(({ type }) => type === "VARCHAR");
    const names = texts.map(({ name }) => name);
    const from = quoteTable("duckdb", table);
    const sizes = new Map<number, number>();
    await limitMemory(this.#parts.connection, "frugal");
    for (const status of statuses) {
      const found = await this.query(selectLargeRows(from, run, status, names));
      for (const [number, size] of found) sizes.set(Number(number), Number(size));
    }
    await limitMemory(this.#parts.connection, "usual");
    this.#isFrugal = sizes.size > 0;
    return sizes;
  }

  /** Opens the file again for large rows: the size of row groups is chosen then. */
  async expect(size: LoadSize): Promise<void> {
    const { groupRows, open } = this.#parts;
    const large = isLarge(size);
    if (large && groupRows === null) {
      await this.settle();
      await this.close();
      this.#parts = { ...this.#parts, ...(await open(vectorRows)), groupRows: vectorRows };
      this.#open = true;
    }
    if (this.#isFrugal) await limitMemory(this.#parts.connection, large ? "frugal" : "usual");
  }

  /** Not in the transaction itself: DuckDB cannot recover updates that come with a full row group. */
  async separate(table: TableName, { runId, prefix }: SavedRun, size: LoadSize): Promise<void> {
    const filler = fillerFor(size);
    if (filler === 0) return;
    const key = [`${prefix}run_id`, `${prefix}row`];
    const texts = (await this.columnsOf(table)).filter(
      ({ name, type }) => type === "VARCHAR" && name !== key[0],
    );
    const columns = [...key, ...texts.map(({ name }) => name)].map((name, index) => ({
      name,
      type: index === 1 ? ("count" as const) : ("text" as const),
    }));
    const names = columns.map(({ name }) => quoteIdentifier("duckdb", name)).join(", ");
    const target = quoteTable("duckdb", table);
    await this.query(`INSERT INTO ${target} (${names}) ${selectFiller(columns, runId, filler)}`);
    await this.query(deleteFiller(target, columns, runId));
  }

  async #removeFiller(): Promise<void> {
    const statement = this.#unfill;
    this.#unfill = null;
    if (statement !== null) await this.query(statement);
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
    const { driver, connection, groupRows } = this.#parts;
    await stageRows(driver, connection, columns, batches).catch((error: unknown) => {
      throw this.#parts.explain(error);
    });
    const isFilled = groupRows !== null && table.schema !== "temp";
    const filler = isFilled ? fillerFor(boundsOf(batches)) : 0;
    const runId = String(batches[0]?.columns[0]?.[0]);
    const target = quoteTable("duckdb", table);
    const names = columns.map(({ name }) => quoteIdentifier("duckdb", name)).join(", ");
    const rows = [
      `SELECT * FROM ${staging}`,
      ...(filler === 0 ? [] : [selectFiller(columns, runId, filler)]),
    ].join(" UNION ALL ");
    const [taken] = await this.query(`INSERT INTO ${target} (${names}) ${rows}`);
    await this.query(`DROP TABLE ${staging}`);
    if (filler > 0) this.#unfill = deleteFiller(target, columns, runId);
    return Number(taken?.[0]) - filler;
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
