import {
  FatalError,
  ReputeError,
  UsageError,
  startOver,
  continueRun,
} from "../../../core/errors.js";

const known: readonly (readonly [said: RegExp, code: string, reason: string, hint: string])[] = [
  // DuckDB processes 2,048 rows at a time, regardless of their size.
  [
    /out of memory/i,
    "output_memory",
    "its cells are too large for DuckDB's memory limit: hundreds of kilobytes in row after row",
    "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again",
  ],
  [
    /duplicate key|violates (?:primary key|unique)/i,
    "output_table_differs",
    "it has rows with the same values of a unique key",
    `if the key is yours, drop it and ${continueRun}; otherwise ${startOver}`,
  ],
  [
    /could not set lock|conflicting lock/i,
    "output_locked",
    "another program has it open",
    "close the other program, then run again",
  ],
  [
    /not a valid DuckDB database/i,
    "output_not_duckdb",
    "the file exists and is not a DuckDB database",
    "name another file; CSV, NDJSON and Parquet files are named without duckdb: and ?table=",
  ],
  [/is a directory|EISDIR/i, "output_is_directory", "it is a directory", "name a file"],
  [
    /no such file or directory/i,
    "output_folder_missing",
    "the folder does not exist",
    "create the folder first",
  ],
  [
    /permission denied|read-only/i,
    "output_denied",
    "permission denied",
    "check the owner and permissions of the file and its folder",
  ],
  [
    /schema with name .* does not exist/i,
    "schema_missing",
    "there is no such schema",
    "create the schema first: CREATE SCHEMA …",
  ],
  [
    /table with name .* does not exist/i,
    "table_not_found",
    "there is no such table",
    "check the name",
  ],
  [
    /referenced column .* not found/i,
    "not_an_output",
    "the table lacks the columns of an output",
    "name an output of repute; if its columns have another prefix than rep_, pass --prefix",
  ],
  [
    /no space left|disk quota/i,
    "output_disk_full",
    "the disk is full",
    "free some space, then run again",
  ],
  [
    /serialization|storage version|newer version/i,
    "output_version",
    "another version of DuckDB wrote it",
    "write to another file, or install the matching @duckdb/node-api",
  ],
];

const usage: ReadonlySet<string> = new Set([
  "output_not_duckdb",
  "output_is_directory",
  "not_an_output",
  "schema_missing",
  "table_not_found",
]);

export function duckdbFault(
  display: string,
  error: unknown,
  access: "write" | "read" = "write",
): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const found = known.find(([pattern]) => pattern.test(text));
  if (found === undefined) {
    const first = text.split("\n", 1)[0] ?? "";
    return new FatalError("output_duckdb", `cannot ${access} ${display}: ${first}`, {
      cause: error,
    });
  }
  const [, code, reason, hint] = found;
  const Kind = usage.has(code) ? UsageError : FatalError;
  return new Kind(code, `cannot ${access} ${display}: ${reason}`, { cause: error, hint });
}
