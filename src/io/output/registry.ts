import { UsageError } from "../../core/errors.js";
import { fileParts, namedAfter } from "../../core/files/output-names.js";
import { duckdbTables } from "./duckdb/address.js";
import { objectOutput } from "./object/output.js";
import type { KindOutput, Output, ParseKind } from "./output.js";
import { parquetOutput } from "./parquet/output.js";
import { postgresTables } from "./postgres/address.js";
import { bigquery } from "./sql/bigquery.js";
import type { SchemaDialect } from "./sql/dialect.js";
import { type DatabaseKind, tableOutput } from "./sql/table-output.js";
import { textOutput } from "./text/output.js";

// What they need is loaded on demand: most runs write text files.
/** All databases. To add one, write its folder and add it here. */
export const databases: readonly DatabaseKind[] = [postgresTables, duckdbTables];

/** The databases that `repute schema` describes tables for. */
export const dialects: readonly SchemaDialect[] = [
  ...databases.map(({ dialect }) => dialect),
  bigquery,
];

/** All outputs but text. To add one that is no database, write its folder and add it here. */
const kinds: readonly ParseKind[] = [objectOutput, parquetOutput, ...databases.map(tableOutput)];

/**
 * Parses the name of an output: `-o`, or an operand.
 *
 * @param use a table that is read may have `run=ID` among its parameters
 * @throws UsageError `unknown_output`, `bad_output`, `bad_table`, `bad_object_address`, `parquet_gzip`
 */
export function parseOutput(given: string, use: "write" | "read" = "write"): Output {
  const { name, run } = use === "read" ? takeRun(given) : { name: given, run: null };
  return { ...outputOf(name, null), given, run };
}

function outputOf(name: string, pattern: Output | null): Output {
  const found = parseKind(name, pattern?.given ?? name);
  const output: Output = {
    gzip: false,
    isStdout: false,
    rules: null,
    database: null,
    object: null,
    unknownExtension: null,
    parts: fileParts(name),
    records: null,
    ...found,
    isTable: (found.records ?? null) !== null,
    isTyped: (found.rules ?? null) !== null,
    given: name,
    run: null,
    pattern,
    named: (run) => outputOf(namedAfter(name, run), output),
  };
  return output;
}

function parseKind(name: string, pattern: string): KindOutput {
  for (const kind of kinds) {
    const found = kind(name, pattern, (local) => parseKind(local, local));
    if (found !== null) return found;
  }
  const scheme = addressScheme(name);
  if (scheme === null) return textOutput(name);
  // Don't print the address: it may contain a password.
  throw new UsageError("unknown_output", `cannot write to ${scheme}: addresses`, {
    hint: "write to a file, FILE.parquet, s3://BUCKET/KEY, duckdb:FILE?table=NAME or postgres://…?table=NAME; to use a file name with a colon, write ./NAME",
  });
}

/** The scheme of an address in lower case (`mysql` of `mysql://…`); null for a path. */
function addressScheme(name: string): string | null {
  // A single letter is a Windows drive.
  return /^([a-z][a-z0-9+.-]+):/i.exec(name)?.[1]?.toLowerCase() ?? null;
}

/** Separates `run=ID` from the other parameters of a table. */
function takeRun(given: string): { readonly name: string; readonly run: string | null } {
  const parts = /^([a-z]+:.*[?&])run=([^&]*)&?(.*)$/i.exec(given);
  if (parts === null) return { name: given, run: null };
  const [, before = "", run = "", after = ""] = parts;
  return { name: (before + after).replace(/[?&]$/, ""), run: decodeURIComponent(run) };
}
