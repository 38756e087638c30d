import {
  continueRun,
  FatalError,
  ReputeError,
  startOver,
  UsageError,
} from "../../../core/errors.js";

/** What DuckDB says, what it means, and what to do about it. */
const faults: readonly (readonly [
  said: RegExp,
  Kind: typeof FatalError | typeof UsageError,
  code: string,
  reason: string,
  hint: string,
])[] = [
  // DuckDB processes 2,048 rows at a time, regardless of their size.
  [
    /out of memory/i,
    FatalError,
    "output_memory",
    "its cells are too large for DuckDB's memory limit: hundreds of kilobytes in row after row",
    "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again",
  ],
  [
    /duplicate key|violates (?:primary key|unique)/i,
    FatalError,
    "output_table_differs",
    "it has rows with the same values of a unique key",
    `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`,
  ],
  [
    /could not set lock|conflicting lock/i,
    FatalError,
    "output_locked",
    "another program has it open",
    "close the other program, then run again",
  ],
  [
    /not a valid DuckDB database/i,
    UsageError,
    "output_not_duckdb",
    "the file exists and is not a DuckDB database",
    "name another file; CSV, NDJSON and Parquet files are named without duckdb: and ?table=",
  ],
  [/EISDIR/, UsageError, "output_is_directory", "it is a directory", "name a file"],
  [
    /permission denied|read-only/i,
    FatalError,
    "output_denied",
    "permission denied",
    "check the owner and permissions of the file and its folder",
  ],
  [
    /schema with name .* does not exist/i,
    UsageError,
    "schema_missing",
    "there is no such schema",
    "create the schema first: CREATE SCHEMA …",
  ],
  [
    /table with name .* does not exist/i,
    UsageError,
    "table_not_found",
    "there is no such table",
    "check the name",
  ],
  [
    /no space left|disk quota/i,
    FatalError,
    "output_disk_full",
    "the disk is full",
    "free some space, then run again",
  ],
  [
    /serialization|storage version|newer version/i,
    FatalError,
    "output_version",
    "another version of DuckDB wrote it",
    "write to another file, or install the matching @duckdb/node-api",
  ],
];

export function duckdbFault(name: string, error: unknown, access: "read" | "write"): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [, Kind = FatalError, code = "output_duckdb", reason = text.split("\n", 1)[0], hint] =
    faults.find(([said]) => said.test(text)) ?? [];
  return new Kind(code, `cannot ${access} ${name}: ${reason}`, { cause: error, hint });
}
