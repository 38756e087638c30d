import {
  continueRun,
  FatalError,
  ReputeError,
  startOver,
  UsageError,
} from "../../../core/errors.js";

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
  output_denied: [
    /permission denied|read-only/i,
    "permission denied",
    "check the owner and permissions of the file and its folder",
  ],
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
  output_version: [
    /serialization|storage version|newer version/i,
    "another version of DuckDB wrote it",
    "write to another file, or install the matching @duckdb/node-api",
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
