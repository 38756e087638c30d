import { UsageError } from "../../core/errors.js";
import { columnClash } from "../../formats/added-names.js";
import { type DialectName, longestPostgresName } from "./dialect.js";
import { storedText } from "./cell-values.js";

/** Where the names go: a database, or a file format that has columns. */
export type NamingName = DialectName | "parquet";

interface Naming {
  readonly longest: number;
  /** In bytes of UTF-8 (PostgreSQL) or characters. */
  readonly lengthOf: (name: string) => number;
  /** Turns a name into one that can be stored. */
  readonly clean: (name: string) => string;
}

const bytes = (name: string): number => Buffer.byteLength(name);
const characters = (name: string): number => name.length;

/** What each output allows in a column's name. */
const namings: Readonly<Record<NamingName, Naming>> = {
  postgres: { longest: longestPostgresName, lengthOf: bytes, clean: cleanText },
  duckdb: { longest: 1024, lengthOf: characters, clean: cleanText },
  // BigQuery, Schemas, Column names: ASCII letters, digits and _, no digit first, 300 characters.
  bigquery: { longest: 300, lengthOf: characters, clean: cleanWord },
  parquet: { longest: 1024, lengthOf: characters, clean: cleanText },
};

/** Names of PostgreSQL's system columns (5.6). */
const systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/**
 * Names for an input's columns that the output can store and tell apart: an empty one becomes
 * `column_N`, a second `name` becomes `name_2`. Names that differ only in case count as the same
 * (DuckDB and BigQuery fold it), in every output, so that a table has the same columns everywhere.
 *
 * A name that needs no change keeps it, whatever the others become.
 *
 * @param taken names that are in the table already and cannot change
 * @throws UsageError `column_clash` when an input column has a name out of `taken`, `name_too_long`
 * when PostgreSQL would cut one
 */
export function safeColumnNames(
  target: NamingName,
  names: readonly string[],
  taken: readonly string[],
): readonly string[] {
  const naming = namings[target];
  const fixed = new Set(taken.map((name) => name.toLowerCase()));
  const clashes = names.filter((name) => fixed.has(name.trim().toLowerCase()));
  if (clashes.length > 0) throw columnClash(clashes);
  if (target === "postgres") refuseLongNames(names, naming);

  const used = new Set([...fixed, ...(target === "postgres" ? systemColumns : [])]);
  const kept = names.map((name) => keepsName(name, naming, used));
  return names.map((name, index) => {
    if (kept[index]) return name;
    const wanted = naming.clean(name) || `column_${index + 1}`;
    return claim(wanted, naming, used);
  });
}

/** Other outputs have room enough: a longer name is cut there. */
function refuseLongNames(names: readonly string[], { clean, longest }: Naming): void {
  const long = names.find((name) => Buffer.byteLength(clean(name)) > longest);
  if (long === undefined) return;
  throw new UsageError(
    "name_too_long",
    `the input's column ${long} has a name of ${Buffer.byteLength(clean(long))} bytes; PostgreSQL allows ${longest}`,
    { hint: "rename it in the input, or write to a file or to DuckDB" },
  );
}

/** Claims a name as it stands if it can be stored and nobody has it. */
function keepsName(name: string, naming: Naming, used: Set<string>): boolean {
  if (name === "" || naming.clean(name) !== name || naming.lengthOf(name) > naming.longest) {
    return false;
  }
  const key = name.toLowerCase();
  if (used.has(key)) return false;
  used.add(key);
  return true;
}

function claim(wanted: string, naming: Naming, used: Set<string>): string {
  let name = cut(wanted, naming, naming.longest);
  for (let n = 2; used.has(name.toLowerCase()); n++) {
    const suffix = `_${n}`;
    name = cut(wanted, naming, naming.longest - suffix.length) + suffix;
  }
  used.add(name.toLowerCase());
  return name;
}

/** Cuts between characters, never through one. */
function cut(name: string, { lengthOf }: Naming, longest: number): string {
  if (lengthOf(name) <= longest) return name;
  let length = 0;
  let end = 0;
  for (const character of name) {
    length += lengthOf(character);
    if (length > longest) break;
    end += character.length;
  }
  return name.slice(0, end);
}

/** Control characters break tools, U+0000 no database has; lone surrogates are no text. */
function cleanText(name: string): string {
  let clean = "";
  for (const character of storedText(name.trim(), () => undefined)) {
    const code = character.codePointAt(0) ?? 0;
    clean += code < 0x20 || code === 0x7f ? "_" : character;
  }
  return clean;
}

/** Beginnings that BigQuery keeps for itself, in any case. */
const bigQueryReserved = /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)/i;

function cleanWord(name: string): string {
  const word = name.trim().replace(/[^A-Za-z0-9_]+/g, "_");
  if (word === "" || /^_+$/.test(word)) return "";
  return /^\d/.test(word) || bigQueryReserved.test(word) ? `c_${word}`.replace("__", "_") : word;
}
