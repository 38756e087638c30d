import { access as checkAccess, constants, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../../../core/clock.js";
import { loadDriver } from "../../../core/load-driver.js";
import type { Stage } from "../stage.js";
import { sqlText } from "../sql/copy-statement.js";
import {
  type AccessOptions,
  type Dialect,
  type Query,
  quoteTable,
  tableFacts,
  type TableSession,
} from "../sql/dialect.js";
import {
  continueRun,
  FatalError,
  ReputeError,
  startOver,
  UsageError,
} from "../../../core/errors.js";
import { copyFromDuckdb } from "./read.js";

/**
 * Does some work in a DuckDB file, as `TableAddress.transact`. All its errors are explained. DuckDB locks
 * the file, so that nothing in it needs a lock.
 */
export async function transactInDuckdb<T>(
  dialect: Dialect,
  file: string,
  options: AccessOptions,
  work: (session: TableSession) => Promise<T>,
): Promise<T> {
  const { name, access, signal } = options;
  const explain = (error: unknown): ReputeError =>
    duckdbFault(name, error, access === "read" ? "read" : "write");
  const [instance, connection] = await openUnlocked(file, options, explain);
  const query: Query = async (sql, values = []) => {
    try {
      const result = await connection.runAndReadAll(sql, [...values]);
      return result.getRows() as (string | bigint | boolean | null)[][];
    } catch (error) {
      throw explain(error);
    }
  };
  try {
    await query("BEGIN TRANSACTION");
    const result = await work({
      dialect,
      query,
      copy: (selection, path) => copyFromDuckdb(connection, explain, selection, path, signal),
      ...catalogue(dialect, query),
      stagedRows: (stage) => stagedRows(name, stage),
    });
    await query(access === "write" ? "COMMIT" : "ROLLBACK");
    // Moves what is committed to its final place.
    if (access === "write") await query("CHECKPOINT");
    return result;
  } finally {
    // This ends the transaction of work that failed.
    connection.closeSync();
    instance.closeSync();
  }
}

/**
 * How often to try, a second apart, to open a file to which another run may be publishing: less often
 * at the start of a run, where a person may be waiting.
 */
const attempts = { read: 1, check: 10, write: 60 };

async function openUnlocked(
  file: string,
  { access, signal, clock = systemClock }: AccessOptions,
  explain: (error: unknown) => ReputeError,
) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openFile(file, access);
    } catch (error) {
      const fault = explain(error);
      if (fault.code !== "output_locked" || attempt === attempts[access]) throw fault;
      await clock.sleep(1_000, signal);
    }
  }
}

/** What is in the file. */
function catalogue(dialect: Dialect, query: Query): Pick<TableSession, "find" | "factsOf"> {
  return {
    async find({ schema, name }) {
      const [found] = await query(
        `SELECT table_type FROM information_schema.tables WHERE table_catalog = current_database()
         AND lower(table_schema) = lower($1) AND lower(table_name) = lower($2)`,
        [schema ?? "main", name],
      );
      if (found === undefined) return null;
      return { schema, name, notTable: found[0] === "VIEW" ? "is a view" : null };
    },
    factsOf(table) {
      const facts = query(
        // `duckdb_columns()` would first bind every view of the system.
        `SELECT json_object(
           'columns', ARRAY(
             SELECT {name: name, type: type, isRequired: "notnull" AND dflt_value IS NULL}
             FROM pragma_table_info($1) ORDER BY cid),
           'keys', ARRAY(
             SELECT constraint_column_names FROM duckdb_constraints()
             WHERE database_name = current_database() AND lower(schema_name) = lower($2)
             AND lower(table_name) = lower($3) AND constraint_type IN ('PRIMARY KEY', 'UNIQUE')))`,
        [quoteTable(dialect, table), table.schema ?? "main", table.name],
      );
      return tableFacts(facts);
    },
  };
}

/** @param output its name, for messages */
async function stagedRows(output: string, stage: Stage | null): Promise<string> {
  if (stage === null || stage.count === 0) return "(SELECT NULL::VARCHAR[] AS cells WHERE FALSE)";
  const { path, length, count } = stage;
  let [longest, line] = [0, 0];
  await stage.verify((bytes) => {
    let from = 0;
    for (let end; (end = bytes.indexOf(0x0a, from)) >= 0; from = end + 1) {
      longest = Math.max(longest, line + end - from);
      line = 0;
    }
    line += bytes.length - from;
  });
  if (length > largeVector && (length / count) * vectorRows > largeVector) {
    const kilobytes = Math.round(length / count / 1024);
    const message = `cannot write ${output}: its rows have ${kilobytes} KB on average, and DuckDB holds ${vectorRows} of them in memory`;
    throw new FatalError("output_memory", message, {
      hint: "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again",
    });
  }
  // Buffers are of twice the size of the largest object.
  const largest = Math.max(1024 * 1024, longest + 1024);
  return `read_json(${sqlText(path)}, format = 'newline_delimited', records = false,
    compression = 'uncompressed', columns = {cells: 'VARCHAR[]'}, maximum_object_size = ${largest})`;
}

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query.
 */
const vectorRows = 2_048;

/** Bytes in a vector from which it is too large. */
const largeVector = 32 * 1024 * 1024;

/**
 * DuckDB takes most of the machine by default. Beyond this memory limit it spills to a folder
 * beside the file. Nothing is downloaded.
 */
const settings = { memory_limit: "128MB", autoinstall_known_extensions: "false" };

/** Opens a DuckDB file. A check of one that does not exist opens an empty database in memory. */
async function openFile(file: string, access: AccessOptions["access"]) {
  const { DuckDBInstance } = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
  const exists = await isDatabase(file);
  if (access === "read" && !exists) {
    throw new UsageError("input_not_found", `there is no file ${file}`, { hint: "check the path" });
  }
  const isTrial = access === "check" && !exists;
  if (isTrial) await checkAccess(dirname(file), constants.W_OK);
  const access_mode = access === "read" ? "READ_ONLY" : "READ_WRITE";
  const path = isTrial ? ":memory:" : file;
  // To write rows in their order, a second thread holds 200 MB of them, and saves no time.
  const threads = access === "read" ? "1" : "2";
  const instance = await DuckDBInstance.create(path, { ...settings, threads, access_mode });
  return [instance, await instance.connect()] as const;
}

/**
 * False if there is no file. DuckDB opens one of another format as an empty database in memory, whose
 * rows would be lost.
 */
async function isDatabase(file: string): Promise<boolean> {
  const facts = await stat(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (facts === null) return false;
  // To open a named pipe is to wait for its writer.
  if (facts.isFIFO()) throw new Error(`${file} is a named pipe`);
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(12), 0, 12, 0);
  // At offset 8 of every database file.
  if (bytesRead === 12 && buffer.toString("latin1", 8) === "DUCK") return true;
  throw new Error(`${file} is not a valid DuckDB database`);
}

/** What DuckDB says, what it means, and what to do about it. */
const faults: Readonly<
  Record<string, readonly [said: RegExp, reason: string, hint: string, Kind?: typeof UsageError]>
> = {
  // DuckDB processes 2,048 rows at a time, regardless of their size.
  output_memory: [
    /out of memory/i,
    "its cells are too large for DuckDB's memory limit: hundreds of kilobytes in row after row",
    "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again",
  ],
  output_table_differs: [
    /duplicate key|violates (?:primary key|unique)/i,
    "it has rows with the same values of a unique key",
    `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`,
  ],
  output_locked: [
    /could not set lock|conflicting lock/i,
    "another program has it open",
    "close the other program, then run again",
  ],
  output_not_duckdb: [
    /not a valid DuckDB database/i,
    "the file exists and is not a DuckDB database",
    "name another file; CSV, NDJSON and Parquet files are named without duckdb: and ?table=",
    UsageError,
  ],
  output_is_directory: [/EISDIR/, "it is a directory", "name a file", UsageError],
  schema_missing: [
    /schema with name .* does not exist/i,
    "there is no such schema",
    "create the schema first: CREATE SCHEMA …",
    UsageError,
  ],
  table_not_found: [
    /table with name .* does not exist/i,
    "there is no such table",
    "check the name",
    UsageError,
  ],
  output_disk_full: [
    /no space left|disk quota/i,
    "the disk is full",
    "free some space, then run again",
  ],
};

export function duckdbFault(name: string, error: unknown, access: "read" | "write"): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const unknown = [/^/, text.split("\n", 1)[0] ?? "", undefined] as const;
  const [code, [, reason, hint, Kind = FatalError]] = Object.entries(faults).find(([, [said]]) =>
    said.test(text),
  ) ?? ["output_duckdb", unknown];
  return new Kind(code, `cannot ${access} ${name}: ${reason}`, { cause: error, hint });
}
