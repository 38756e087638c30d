import type * as duckdb from "@duckdb/node-api";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { ConnectOptions } from "../warehouse/table-database.js";

export type DuckdbDriver = typeof duckdb;

/** An open file and the connection to it. */
export interface OpenDuckdb {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
}

/**
 * DuckDB takes most of the machine by default. Beyond this memory limit it spills to a folder
 * beside the file. Nothing is downloaded.
 */
const memory = { usual: "512MB", frugal: "192MB" };

const settings = {
  memory_limit: memory.usual,
  threads: "2",
  autoinstall_known_extensions: "false",
};

/**
 * Sets the memory limit. What was read stays in memory up to it: large rows that are read once take
 * a lower one. If the new limit cannot be met, the one before it stays.
 */
export async function limitMemory(
  connection: DuckDBConnection,
  limit: keyof typeof memory,
): Promise<void> {
  await connection.run(`SET memory_limit = '${memory[limit]}'`).catch(() => undefined);
}

/** Name of the file's database where the file is attached. */
const attached = "repute_file";

/**
 * Opens a DuckDB file.
 *
 * @param groupRows rows in each new row group, a multiple of 2,048; null for DuckDB's own number
 * @throws errors of DuckDB
 */
export async function openDuckdb(
  driver: DuckdbDriver,
  file: string,
  { access, groupRows }: Pick<ConnectOptions, "access"> & { readonly groupRows: number | null },
): Promise<OpenDuckdb> {
  if (groupRows === null) {
    const access_mode = access === "read" ? "READ_ONLY" : "READ_WRITE";
    const instance = await driver.DuckDBInstance.create(file, { ...settings, access_mode });
    return { instance, connection: await instance.connect() };
  }
  const spill = { temp_directory: `${file}.tmp` };
  const instance = await driver.DuckDBInstance.create(":memory:", { ...settings, ...spill });
  const connection = await instance.connect();
  const path = file.replaceAll("'", "''");
  await connection.run(`ATTACH '${path}' AS ${attached} (ROW_GROUP_SIZE ${groupRows})`);
  await connection.run(`USE ${attached}`);
  return { instance, connection };
}
