import type { TypedColumn, CellValue, StoredType } from "../../formats/typed-column.js";
import { existsSync } from "node:fs";
import { access as checkAccess, constants, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type * as driverModule from "@duckdb/node-api";
import type {
  DuckDBConnection,
  DuckDBInstance,
  DuckDBPreparedStatement,
  DuckDBAppender,
  DuckDBValue,
} from "@duckdb/node-api";
import { type TableName, quoteIdentifier, sqlType } from "../sql/dialect.js";
import { loadDriver } from "../../../core/load-driver.js";
import type {
  Batches,
  ConnectOptions,
  FoundColumn,
  FoundTable,
  Query,
  TableDatabase,
  TableSession,
} from "../sql/table-database.js";
import { duckdbFault } from "./fault.js";
import { duckdb } from "./dialect.js";
import { decimalDigits, isDecimal } from "../../formats/column-types.js";
import { FatalError } from "../../../core/errors.js";
import type { ColumnBatch } from "../row-cells.js";

/** A database file. */
export interface DuckdbFile {
  readonly file: string;
  /** What of it is used, for messages. */
  readonly name: string;
}

interface OpenFile {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
}

/**
 * An open DuckDB file. All its errors are explained. DuckDB locks the file, so that nothing in it needs
 * a lock.
 */
export class DuckdbDatabase implements TableDatabase, TableSession {
  readonly dialect = duckdb;
  readonly #driver: DuckdbDriver;
  readonly #file: OpenFile;
  readonly #name: string;
  readonly explain: (error: unknown) => Error;
  #open = true;

  private constructor(
    driver: DuckdbDriver,
    file: OpenFile,
    name: string,
    explain: (error: unknown) => Error,
  ) {
    this.#driver = driver;
    this.#file = file;
    this.#name = name;
    this.explain = explain;
  }

  static async open(
    { file, name }: DuckdbFile,
    { access }: Pick<ConnectOptions, "access">,
  ): Promise<DuckdbDatabase> {
    const driver = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
    const explain = (error: unknown): Error =>
      duckdbFault(name, error, access === "read" ? "read" : "write");
    const opened = await openDuckdb(driver, file, access).catch((error: unknown) => {
      throw explain(error);
    });
    return new DuckdbDatabase(driver, opened, name, explain);
  }

  readonly query: Query = async (sql, values = []) => {
    try {
      const result = await this.#file.connection.runAndReadAll(sql, [...values]);
      return result.getRows() as (string | bigint | boolean | null)[][];
    } catch (error) {
      throw this.explain(error);
    }
  };

  /**
   * How many statements a text has, and the statement if it is a single one that selects. Errors are
   * those of DuckDB.
   */
  async prepare(
    sql: string,
  ): Promise<{ readonly count: number; readonly prepared: DuckDBPreparedStatement | null }> {
    const extracted = await this.#file.connection.extractStatements(sql);
    const { count } = extracted;
    if (count !== 1) return { count, prepared: null };
    const prepared = await extracted.prepare(0);
    if (prepared.statementType === this.#driver.StatementType.SELECT) return { count, prepared };
    prepared.destroySync();
    return { count, prepared: null };
  }

  /** Ends the statement that runs. */
  interrupt(): void {
    this.#file.connection.interrupt();
  }

  async transaction<T>(
    work: (session: TableSession) => Promise<T>,
    end: "COMMIT" | "ROLLBACK" = "COMMIT",
  ): Promise<T> {
    await this.query("BEGIN TRANSACTION");
    try {
      const result = await work(this);
      await this.query(end);
      return result;
    } catch (error) {
      await this.query("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  async find({ schema, name }: TableName): Promise<FoundTable | null> {
    const [found] = await this.query(
      `SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database()
       AND lower(table_schema) = lower($1) AND lower(table_name) = lower($2)`,
      [schema ?? "main", name],
    );
    if (found === undefined) return null;
    return { schema, name, notTable: found[0] === "VIEW" ? "is a view" : null };
  }

  async columnsOf({ schema, name }: TableName): Promise<readonly FoundColumn[]> {
    const rows = await this.query(
      `SELECT column_name, data_type, NOT is_nullable AND column_default IS NULL FROM duckdb_columns() WHERE database_name = current_database()
       AND lower(schema_name) = lower($1) AND lower(table_name) = lower($2)`,
      [schema ?? "main", name],
    );
    return rows.map(([column, type, isRequired]) => ({
      name: String(column),
      type: String(type),
      isRequired: isRequired === true,
    }));
  }

  async hasKey({ schema, name }: TableName, key: readonly string[]): Promise<boolean> {
    const wanted = key.map((_, index) => `lower($${index + 3})`).join(", ");
    const found = await this.query(
      `SELECT 1 FROM duckdb_constraints() WHERE database_name = current_database()
       AND lower(schema_name) = lower($1) AND lower(table_name) = lower($2)
       AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')
       AND list_sort(list_transform(constraint_column_names, lambda name: lower(name)))
         = list_sort([${wanted}])`,
      [schema ?? "main", name, ...key],
    );
    return found.length > 0;
  }

  loadTemporary(columns: readonly TypedColumn[], batches: Batches): Promise<TableName> {
    return this.#append(null, columns, batches);
  }

  async append(table: TableName, columns: readonly TypedColumn[], batches: Batches) {
    // An appender needs every column, in table order.
    const nameOf = ({ name }: { readonly name: string }): string => name.toLowerCase();
    const found = (await this.columnsOf(table)).map(nameOf);
    if (found.join("\0") !== columns.map(nameOf).join("\0")) return false;
    await this.#append(table, columns, batches);
    return true;
  }

  async #append(
    table: TableName | null,
    columns: readonly TypedColumn[],
    batches: Batches,
  ): Promise<TableName> {
    const rows = { table, columns, batches, name: this.#name };
    return appendRows(this.#driver, this.#file.connection, rows).catch((error: unknown) => {
      throw this.explain(error);
    });
  }

  async settle(): Promise<void> {
    await this.query("CHECKPOINT");
  }

  close(): Promise<void> {
    if (this.#open) {
      this.#open = false;
      this.#file.connection.closeSync();
      this.#file.instance.closeSync();
    }
    return Promise.resolve();
  }
}

/**
 * DuckDB takes most of the machine by default. Beyond this memory limit it spills to a folder
 * beside the file. Nothing is downloaded.
 */
const settings = { memory_limit: "128MB", threads: "2", autoinstall_known_extensions: "false" };

/** At offset 8 of every database file. */
const magic = "DUCK";

/**
 * DuckDB opens a file of another format as an empty database in memory, whose rows would be lost.
 */
async function checkFormat(file: string): Promise<void> {
  const facts = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (facts === null) return;
  // To open a named pipe is to wait for its writer.
  if (facts.isFIFO()) throw new Error(`${file} is a named pipe`);
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(12), 0, 12, 0);
    if (bytesRead === 12 && buffer.toString("latin1", 8) === magic) return;
    throw new Error(`${file} is not a valid DuckDB database`);
  } finally {
    await handle.close();
  }
}

/** Opens a DuckDB file. A check of one that does not exist opens an empty database in memory. */
async function openDuckdb(
  driver: DuckdbDriver,
  file: string,
  access: ConnectOptions["access"],
): Promise<OpenFile> {
  await checkFormat(file);
  const access_mode = access === "read" ? "READ_ONLY" : "READ_WRITE";
  const isTrial = access === "check" && !existsSync(file);
  if (isTrial) await checkAccess(dirname(file), constants.W_OK);
  const path = isTrial ? ":memory:" : file;
  const instance = await driver.DuckDBInstance.create(path, { ...settings, access_mode });
  return { instance, connection: await instance.connect() };
}

export type DuckdbDriver = typeof driverModule;

/** Temporary table for loading, so that the target table can have other columns in any order. */
const staging = { schema: "temp", name: "repute_staging" } as const satisfies TableName;

interface AppendedRows {
  /** A table that has exactly these columns, or null to make a temporary one. */
  readonly table: TableName | null;
  readonly columns: readonly TypedColumn[];
  readonly batches: Batches;
  /** Name of the target in messages. */
  readonly name: string;
}

/** Appends rows. Errors are those of DuckDB. @returns the table that has them */
async function appendRows(
  driver: DuckdbDriver,
  connection: DuckDBConnection,
  { table, columns, batches, name }: AppendedRows,
): Promise<TableName> {
  const appender =
    table === null
      ? await createStaging(connection, columns)
      : await connection.createAppender(table.name, table.schema);
  const types = columns.map((_, index) => appender.columnType(index));
  // Reused, because the chunk's memory is outside the JavaScript heap and not garbage collected in
  // time.
  const chunk = driver.DuckDBDataChunk.create(types);
  for await (const batch of limited(batches, name)) {
    chunk.reset();
    chunk.rowCount = batch.rows;
    columns.forEach(({ type }, index) => {
      chunk.setColumnValues(index, valuesOf(driver, type, batch.columns[index]!));
    });
    appender.appendDataChunk(chunk);
    // The appender keeps up to 204,800 rows outside DuckDB's memory limit.
    appender.flushSync();
  }
  appender.closeSync();
  return table ?? staging;
}

async function createStaging(
  connection: DuckDBConnection,
  columns: readonly TypedColumn[],
): Promise<DuckDBAppender> {
  const { schema, name } = staging;
  const definitions = columns.map(
    (column) => `${quoteIdentifier(duckdb, column.name)} ${sqlType(duckdb, column.type)}`,
  );
  await connection.run(`CREATE TEMPORARY TABLE ${name} (${definitions.join(", ")})`);
  return connection.createAppender(name, "main", schema);
}

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query.
 */
const vectorRows = 2_048;

/** Characters in a vector from which it is too large. */
const largeVector = 32 * 1024 * 1024;

/** Refuses batches that would make vectors that are too large. */
async function* limited(batches: Batches, name: string): AsyncGenerator<ColumnBatch> {
  let [rows, characters] = [0, 0];
  for await (const batch of batches) {
    if (rows + batch.rows > vectorRows) rows = characters = 0;
    rows += batch.rows;
    characters += batch.characters;
    if (characters > largeVector) {
      const kilobytes = Math.round(characters / rows / 1024);
      throw new FatalError(
        "output_memory",
        `cannot write ${name}: its rows have ${kilobytes} KB on average, and DuckDB holds ${vectorRows} of them in memory`,
        { hint: "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again" },
      );
    }
    yield batch;
  }
}

function valuesOf(
  driver: DuckdbDriver,
  type: StoredType,
  values: readonly CellValue[],
): readonly DuckDBValue[] {
  const make = makerOf(driver, type);
  if (make === null) return values as readonly (string | bigint | number | boolean | null)[];
  return values.map((value) => (value === null ? null : make(value)));
}

/** What makes the driver's value of a cell; null if the cell is one. */
function makerOf(
  driver: DuckdbDriver,
  type: StoredType,
): ((cell: NonNullable<CellValue>) => DuckDBValue) | null {
  if (isDecimal(type)) {
    const { precision, scale } = decimalDigits(type);
    return (cell) => new driver.DuckDBDecimalValue(cell as bigint, precision, scale);
  }
  const makers: Partial<Record<StoredType, (cell: NonNullable<CellValue>) => DuckDBValue>> = {
    timestamp: (cell) => new driver.DuckDBTimestampTZValue(cell as bigint),
    timestamp_local: (cell) => new driver.DuckDBTimestampValue(cell as bigint),
    timestamp_ns_local: (cell) => new driver.DuckDBTimestampNanosecondsValue(cell as bigint),
    date: (cell) => new driver.DuckDBDateValue(cell as number),
    uuid: (cell) =>
      driver.DuckDBUUIDValue.fromUint128(BigInt(`0x${String(cell).replaceAll("-", "")}`)),
    "text[]": (cell) => new driver.DuckDBListValue(cell as readonly string[]),
  };
  return makers[type] ?? null;
}
