import { FatalError, ReputeError, UsageError } from "../../core/errors.js";

interface Known {
  readonly pattern: RegExp;
  readonly usage: boolean;
  readonly code: string;
  readonly text: string;
  readonly hint: string;
}

/** What DuckDB says, in its own words, and what to do about it. */
const known: readonly Known[] = [
  {
    // DuckDB takes 2,048 rows at a time, whatever is in them.
    pattern: /out of memory/i,
    usage: false,
    code: "output_memory",
    text: "cells of hundreds of kilobytes, row after row, are more than DuckDB's memory limit holds",
    hint: "write such rows to a Parquet file or to PostgreSQL; what was committed stays in the table until a run with --restart",
  },
  {
    pattern: /duplicate key|violates (?:primary key|unique)/i,
    usage: false,
    code: "output_table_differs",
    text: "it has rows of this run that this run did not write",
    hint: "start anew with --restart",
  },
  {
    pattern: /could not set lock|conflicting lock/i,
    usage: false,
    code: "output_locked",
    text: "another program has it open",
    hint: "close it there, then run again",
  },
  {
    pattern: /not a valid DuckDB database/i,
    usage: true,
    code: "output_not_duckdb",
    text: "it is there already and is no DuckDB database",
    hint: "name another file",
  },
  {
    pattern: /is a directory/i,
    usage: true,
    code: "output_is_directory",
    text: "it is a directory",
    hint: "name a file",
  },
  {
    pattern: /no such file or directory/i,
    usage: false,
    code: "output_folder_missing",
    text: "the folder does not exist",
    hint: "create the folder first",
  },
  {
    pattern: /permission denied|read-only/i,
    usage: false,
    code: "output_denied",
    text: "permission denied",
    hint: "check the owner and mode of the file and its folder",
  },
  {
    pattern: /referenced column .* not found/i,
    usage: true,
    code: "not_an_output",
    text: "the table has not the columns of an output",
    hint: "columns that begin otherwise than rep_ need --prefix",
  },
  {
    pattern: /no space left|disk quota/i,
    usage: false,
    code: "output_disk_full",
    text: "the disk is full",
    hint: "free some space, then run again",
  },
  {
    pattern: /serialization|storage version|newer version/i,
    usage: false,
    code: "output_version",
    text: "another version of DuckDB wrote it",
    hint: "write to another file, or install the matching @duckdb/node-api",
  },
];

/** Explains why a DuckDB file cannot be written or read, for the person who has to mend it. */
export function duckdbFault(
  display: string,
  error: unknown,
  access: "write" | "read" = "write",
): ReputeError {
  if (error instanceof ReputeError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const found = known.find(({ pattern }) => pattern.test(text));
  if (found === undefined) {
    const first = text.split("\n", 1)[0] ?? "";
    return new FatalError("output_duckdb", `cannot ${access} ${display}: ${first}`, {
      cause: error,
    });
  }
  const Kind = found.usage ? UsageError : FatalError;
  return new Kind(found.code, `cannot ${access} ${display}: ${found.text}`, {
    cause: error,
    hint: found.hint,
  });
}
