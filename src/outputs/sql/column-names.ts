import { UsageError } from "../../core/errors.js";
import { columnClash } from "../../formats/added-names.js";
import { type DialectName, maxPostgresName } from "./dialect.js";
import { storedText } from "./stored-text.js";

export type NamingName = DialectName | "parquet";

interface Naming {
  readonly maxLength: number;
  /** In UTF-8 bytes (PostgreSQL) or characters. */
  readonly lengthOf: (name: string) => number;
  readonly clean: (name: string) => string;
}

const bytes = (name: string): number => Buffer.byteLength(name);
const characters = (name: string): number => name.length;

const namings: Readonly<Record<NamingName, Naming>> = {
  postgres: { maxLength: maxPostgresName, lengthOf: bytes, clean: cleanText },
  duckdb: { maxLength: 1024, lengthOf: characters, clean: cleanText },
  // BigQuery: at most 300 ASCII letters, digits and underscores, no leading digit (Schemas, Column
  // names).
  bigquery: { maxLength: 300, lengthOf: characters, clean: cleanWord },
  parquet: { maxLength: 1024, lengthOf: characters, clean: cleanText },
};

/** PostgreSQL's system columns (manual, section 5.6). */
const systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/** Whether an output has the columns of a table. @param kind of its target */
export function isNaming(kind: string): kind is NamingName {
  return Object.hasOwn(namings, kind);
}

/**
 * Makes the input's column names storable and unique: an empty one becomes `column_N`, a second
 * `name` becomes `name_2`. Names are compared without case in every output (DuckDB and BigQuery
 * ignore it), so that a table has the same columns everywhere. Names that are valid and unique stay
 * unchanged, whatever the others become.
 * @param taken fixed names of the table
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

/** PostgreSQL only: the other limits are generous, and longer names are truncated. */
function refuseLongNames(names: readonly string[], { clean, maxLength }: Naming): void {
  const long = names.find((name) => Buffer.byteLength(clean(name)) > maxLength);
  if (long === undefined) return;
  throw new UsageError(
    "name_too_long",
    `the input's column ${long} has a name of ${Buffer.byteLength(clean(long))} bytes; PostgreSQL allows ${maxLength}`,
    { hint: "rename it in the input, or write to a file or to DuckDB" },
  );
}

function keepsName(name: string, naming: Naming, used: Set<string>): boolean {
  if (name === "" || naming.clean(name) !== name || naming.lengthOf(name) > naming.maxLength) {
    return false;
  }
  const key = name.toLowerCase();
  if (used.has(key)) return false;
  used.add(key);
  return true;
}

function claim(wanted: string, naming: Naming, used: Set<string>): string {
  let name = cut(wanted, naming, naming.maxLength);
  for (let n = 2; used.has(name.toLowerCase()); n++) {
    const suffix = `_${n}`;
    name = cut(wanted, naming, naming.maxLength - suffix.length) + suffix;
  }
  used.add(name.toLowerCase());
  return name;
}

function cut(name: string, { lengthOf }: Naming, maxLength: number): string {
  if (lengthOf(name) <= maxLength) return name;
  let length = 0;
  let end = 0;
  for (const character of name) {
    length += lengthOf(character);
    if (length > maxLength) break;
    end += character.length;
  }
  return name.slice(0, end);
}

/** Replaces control characters, U+0000 and lone surrogates. */
function cleanText(name: string): string {
  let clean = "";
  for (const character of storedText(name.trim(), () => undefined)) {
    const code = character.codePointAt(0) ?? 0;
    clean += code < 0x20 || code === 0x7f ? "_" : character;
  }
  return clean;
}

const bigQueryReserved = /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)/i;

function cleanWord(name: string): string {
  const word = name.trim().replace(/[^A-Za-z0-9_]+/g, "_");
  if (word === "" || /^_+$/.test(word)) return "";
  return /^\d/.test(word) || bigQueryReserved.test(word) ? `c_${word}`.replace("__", "_") : word;
}
