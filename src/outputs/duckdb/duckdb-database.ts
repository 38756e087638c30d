import type * as duckdb from "@duckdb/node-api";
import type { DuckDBAppender, DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { TableName } from "../warehouse/dialect.js";
import type { Query } from "../warehouse/run-rows.js";
import { loadDriver } from "../warehouse/load-driver.js";
import type { DuckdbTarget } from "../warehouse/target.js";
import { duckdbFault } from "./duckdb-fault.js";

/** The package that writes, loaded when it is asked for. */
export type DuckdbDriver = typeof duckdb;

/** A value of a result. */
type DuckdbValue = string | bigint | null;

/**
 * What DuckDB may hold in memory and run on; by default it takes most of the machine. Beyond that
 * it spills to a folder beside the file. Nothing is fetched from the network.
 */
const settings = { memory_limit: "512MB", threads: "2", autoinstall_known_extensions: "false" };

/** How the file is opened: reading needs no write permission on it or its folder. */
export type DuckdbAccess = "write" | "read";

/** An open DuckDB file. Every failure of it is explained. */
export class DuckdbDatabase {
  readonly driver: DuckdbDriver;
  readonly #display: string;
  readonly #access: DuckdbAccess;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;
  #open = true;

  private constructor(
    driver: DuckdbDriver,
    display: string,
    access: DuckdbAccess,
    instance: DuckDBInstance,
    connection: DuckDBConnection,
  ) {
    this.driver = driver;
    this.#display = display;
    this.#access = access;
    this.#instance = instance;
    this.#connection = connection;
  }

  /** @throws UsageError `driver_missing`, `output_*`; FatalError `output_*` */
  static async open(
    { file, display }: DuckdbTarget,
    access: DuckdbAccess = "write",
  ): Promise<DuckdbDatabase> {
    const driver = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
    try {
      const instance = await driver.DuckDBInstance.create(file, {
        ...settings,
        access_mode: access === "read" ? "READ_ONLY" : "READ_WRITE",
      });
      return new DuckdbDatabase(driver, display, access, instance, await instance.connect());
    } catch (error) {
      throw duckdbFault(display, error, access);
    }
  }

  /** Runs one statement and gives its rows. */
  async run(sql: string, values: readonly (string | number)[] = []): Promise<readonly DuckdbRow[]> {
    try {
      const result = await this.#connection.runAndReadAll(sql, [...values]);
      return result.getRows() as readonly DuckdbRow[];
    } catch (error) {
      throw duckdbFault(this.#display, error, this.#access);
    }
  }

  /** The same as a function. */
  readonly query: Query = (sql, values) => this.run(sql, values);

  /** Runs statements as one: all of them hold, or none. */
  async transaction(statements: () => Promise<void>): Promise<void> {
    await this.run("BEGIN TRANSACTION");
    try {
      await statements();
      await this.run("COMMIT");
    } catch (error) {
      await this.run("ROLLBACK").catch(() => undefined);
      throw error;
    }
  }

  /** @param catalog `temp` for a temporary table */
  async appender(table: TableName, catalog?: string): Promise<DuckDBAppender> {
    try {
      return await this.#connection.createAppender(table.name, table.schema, catalog);
    } catch (error) {
      throw duckdbFault(this.#display, error, this.#access);
    }
  }

  /** Runs something of the driver that fails in its own words. */
  guard<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw duckdbFault(this.#display, error, this.#access);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

export type DuckdbRow = readonly DuckdbValue[];
