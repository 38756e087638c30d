import { existsSync } from "node:fs";
import { access as checkAccess, constants, open } from "node:fs/promises";
import { dirname } from "node:path";
import type * as duckdb from "@duckdb/node-api";
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import type { ConnectOptions } from "../warehouse/table-database.js";

export type DuckdbDriver = typeof duckdb;

export interface OpenDuckdb {
  readonly instance: DuckDBInstance;
  readonly connection: DuckDBConnection;
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

/** Opens a DuckDB file. A check of one that does not exist opens an empty database in memory. */
export async function openDuckdb(
  driver: DuckdbDriver,
  file: string,
  access: ConnectOptions["access"],
): Promise<OpenDuckdb> {
  await checkFormat(file);
  const access_mode = access === "read" ? "READ_ONLY" : "READ_WRITE";
  const isTrial = access === "check" && !existsSync(file);
  if (isTrial) await checkAccess(dirname(file), constants.W_OK);
  const path = isTrial ? ":memory:" : file;
  const instance = await driver.DuckDBInstance.create(path, { ...settings, access_mode });
  return { instance, connection: await instance.connect() };
}
