import { UsageError } from "../../../core/errors.js";
import { columnClash } from "../../formats/added-names.js";
import { type DialectName, maxPostgresName } from "./dialect.js";
import { storedText } from "./stored-text.js";

export type NamingName = DialectName | "parquet";

interface Naming {
  /** In bytes of UTF-8. */
  readonly longest: number;
  readonly clean: (name: string) => string;
}

const namings: Readonly<Record<NamingName, Naming>> = {
  postgres: { longest: maxPostgresName, clean: cleanText },
  duckdb: { longest: Number.POSITIVE_INFINITY, clean: cleanText },
  // Schemas, Column names.
  bigquery: { longest: 300, clean: cleanWord },
  parquet: { longest: Number.POSITIVE_INFINITY, clean: cleanText },
};

/** PostgreSQL's system columns (manual, section 5.6). */
const systemColumns = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

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

/** BigQuery's longer names are truncated. */
function refuseLongNames(names: readonly string[], { clean, longest }: Naming): void {
  const long = names.find((name) => Buffer.byteLength(clean(name)) > longest);
  if (long === undefined) return;
  throw new UsageError(
    "name_too_long",
    `the input's column ${long} has a name of ${Buffer.byteLength(clean(long))} bytes; PostgreSQL allows ${longest}`,
    { hint: "rename it in the input, or write to a file or to DuckDB" },
  );
}

function keepsName(name: string, naming: Naming, used: Set<string>): boolean {
  if (name === "" || naming.clean(name) !== name || Buffer.byteLength(name) > naming.longest) {
    return false;
  }
  const key = name.toLowerCase();
  if (used.has(key)) return false;
  used.add(key);
  return true;
}

function claim(wanted: string, { longest }: Naming, used: Set<string>): string {
  let name = cut(wanted, longest);
  for (let n = 2; used.has(name.toLowerCase()); n++) {
    const suffix = `_${n}`;
    name = cut(wanted, longest - suffix.length) + suffix;
  }
  used.add(name.toLowerCase());
  return name;
}

/** The characters that fit into so many bytes. */
function cut(name: string, longest: number): string {
  let end = name.slice(0, longest);
  while (Buffer.byteLength(end) > longest) end = Array.from(end).slice(0, -1).join("");
  return end;
}

/** Replaces control characters, U+0000 and lone surrogates. */
function cleanText(name: string): string {
  let clean = "";
  for (const character of storedText(name.trim())) {
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
