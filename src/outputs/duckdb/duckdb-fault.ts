import { FatalError, ReputeError, UsageError } from "../../core/errors.js";

interface Known {
  readonly text: string;
  readonly hint: string;
  /** The user named something that cannot be an output. */
  readonly usage?: boolean;
}

/** What DuckDB says, in its own words, and what to do about it. */
const known: readonly (readonly [pattern: RegExp, code: string, Known])[] = [
  // DuckDB takes 2,048 rows at a time, whatever is in them.
  [
    /out of memory/i,
    "output_memory",
    {
      text: "cells of hundreds of kilobytes, row after row, are more than DuckDB's memory limit holds",
      hint: "write such rows to a Parquet file or to PostgreSQL; what was committed stays in the table until a run with --restart",
    },
  ],
  [
    /duplicate key|violates (?:primary key|unique)/i,
    "output_table_differs",
    {
      text: "it has rows of this run that this run did not write",
      hint: "start anew with --restart",
    },
  ],
  [
    /could not set lock|conflicting lock/i,
    "output_locked",
    { text: "another program has it open", hint: "close it there, then run again" },
  ],
  [
    /not a valid DuckDB database/i,
    "output_not_duckdb",
    {
      text: "it is there already and is no DuckDB database",
      hint: "name another file",
      usage: true,
    },
  ],
  [
    /is a directory/i,
    "output_is_directory",
    { text: "it is a directory", hint: "name a file", usage: true },
  ],
  [
    /no such file or directory/i,
    "output_folder_missing",
    { text: "the folder does not exist", hint: "create the folder first" },
  ],
  [
    /permission denied|read-only/i,
    "output_denied",
    { text: "permission denied", hint: "check the owner and mode of the file and its folder" },
  ],
  [
    /referenced column .* not found/i,
    "not_an_output",
    {
      text: "the table has not the columns of an output",
      hint: "columns that begin otherwise than rep_ need --prefix",
      usage: true,
    },
  ],
  [
    /no space left|disk quota/i,
    "output_disk_full",
    { text: "the disk is full", hint: "free some space, then run again" },
  ],
  [
    /serialization|storage version|newer version/i,
    "output_version",
    {
      text: "another version of DuckDB wrote it",
      hint: "write to another file, or install the matching @duckdb/node-api",
    },
  ],
];

/** Explains why a DuckDB file cannot be written or read, for the person who has to mend it. */
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
  const [, code, { text: reason, hint, usage }] = found;
  const Kind = usage === true ? UsageError : FatalError;
  return new Kind(code, `cannot ${access} ${display}: ${reason}`, { cause: error, hint });
}
