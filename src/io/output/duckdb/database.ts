import type { Stage } from "../stage.js";
import { existsSync } from "node:fs";
import { access as checkAccess, constants, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type * as driverModule from "@duckdb/node-api";
import type { DuckDBConnection, DuckDBInstance, DuckDBPreparedStatement } from "@duckdb/node-api";
import type { TableName } from "../sql/dialect.js";
import { loadDriver } from "../../../core/load-driver.js";
import type {
  ConnectOptions,
  FoundColumn,
  FoundTable,
  Query,
  TableDatabase,
  TableSession,
} from "../sql/tables.js";
import { duckdbFault } from "./fault.js";
import { duckdb } from "./dialect.js";
import { FatalError } from "../../../core/errors.js";

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

  async stagedRows(stage: Stage | null): Promise<string> {
    if (stage === null || stage.count === 0) return "(SELECT NULL::VARCHAR[] AS cells WHERE FALSE)";
    const sizes = new RowSizes();
    await stage.verify((bytes) => sizes.add(bytes));
    if (sizes.tooLarge !== null) throw tooLarge(this.#name, sizes.tooLarge);
    const path = `'${stage.path.replaceAll("'", "''")}'`;
    const options = {
      format: "'newline_delimited'",
      records: "false",
      compression: "'uncompressed'",
      columns: "{cells: 'VARCHAR[]'}",
      // Buffers are of twice this size.
      maximum_object_size: String(Math.max(1024 * 1024, sizes.longest + 1024)),
    };
    const given = Object.entries(options).map(([name, value]) => `${name} = ${value}`);
    return `read_json(${[path, ...given].join(", ")})`;
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

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query.
 */
const vectorRows = 2_048;

/** Bytes in a vector from which it is too large. */
const largeVector = 32 * 1024 * 1024;

/** Measures lines that pass by. */
class RowSizes {
  /** Bytes of the longest row. */
  longest = 0;
  /** Average bytes of the rows in a vector that is too large. */
  tooLarge: number | null = null;
  #row = 0;
  #rows = 0;
  #sum = 0;

  add(bytes: Uint8Array): void {
    let from = 0;
    for (let end; (end = bytes.indexOf(0x0a, from)) >= 0; from = end + 1) {
      this.#row += end - from;
      this.longest = Math.max(this.longest, this.#row);
      this.#sum += this.#row;
      this.#row = 0;
      this.#rows++;
      if (this.#sum > largeVector) this.tooLarge ??= this.#sum / this.#rows;
      if (this.#rows === vectorRows) this.#rows = this.#sum = 0;
    }
    this.#row += bytes.length - from;
  }
}

function tooLarge(name: string, bytes: number): FatalError {
  const kilobytes = Math.round(bytes / 1024);
  return new FatalError(
    "output_memory",
    `cannot write ${name}: its rows have ${kilobytes} KB on average, and DuckDB holds ${vectorRows} of them in memory`,
    { hint: "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again" },
  );
}
