import { open } from "node:fs/promises";
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

/** At offset 8 of every database file. */
const magic = "DUCK";

/**
 * DuckDB opens a file of another format as an empty database in memory, whose rows would be lost.
 *
 * @throws Error in DuckDB's words; errors of the file system
 */
async function checkFormat(file: string): Promise<void> {
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (handle === null) return;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(12), 0, 12, 0);
    if (bytesRead === 12 && buffer.toString("latin1", 8) === magic) return;
    throw new Error(`${file} is not a valid DuckDB database`);
  } finally {
    await handle.close();
  }
}

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
  await checkFormat(file);
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
