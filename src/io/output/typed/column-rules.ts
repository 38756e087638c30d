import { isWellFormed, toWellFormed } from "../../../core/bytes.js";
import { UsageError } from "../../../core/errors.js";
import { parquetLacks } from "../../formats/column-types.js";
import { columnClash } from "../../formats/columns/name-columns.js";
import type { StoredType } from "../../formats/typed-column.js";

/** How an output of typed columns names them, and what it can store. */
export interface ColumnRules {
  /** Longest name, in bytes of UTF-8. */
  readonly longest: number;
  /** Makes a name storable; "" if nothing of it is. */
  readonly clean: (name: string) => string;
  /** Names that the input's columns cannot have, in lower case. */
  readonly reserved: readonly string[];
  /** The database, if it refuses longer names; by default they are cut. */
  readonly refusesLong?: string;
  /** Whether values of a type are stored as text. */
  readonly lacks: (type: StoredType) => boolean;
}

/**
 * Makes the input's column names storable and unique: an empty one becomes `column_N`, a second
 * `name` becomes `name_2`. Names are compared without case in every output (DuckDB and BigQuery
 * ignore it), so that a table has the same columns everywhere. Names that are valid and unique stay
 * unchanged, whatever the others become.
 * @param taken fixed names of the table
 */
export function safeColumnNames(
  rules: ColumnRules,
  names: readonly string[],
  taken: readonly string[],
): readonly string[] {
  const fixed = new Set(taken.map((name) => name.toLowerCase()));
  const clashes = names.filter((name) => fixed.has(name.trim().toLowerCase()));
  if (clashes.length > 0) throw columnClash(clashes);
  refuseLongNames(names, rules);

  const used = new Set([...fixed, ...rules.reserved]);
  const kept = names.map((name) => keepsName(name, rules, used));
  return names.map((name, index) => {
    if (kept[index]) return name;
    const wanted = rules.clean(name) || `column_${index + 1}`;
    return claim(wanted, rules, used);
  });
}

function refuseLongNames(
  names: readonly string[],
  { clean, longest, refusesLong }: ColumnRules,
): void {
  if (refusesLong === undefined) return;
  const long = names.find((name) => Buffer.byteLength(clean(name)) > longest);
  if (long === undefined) return;
  throw new UsageError(
    "name_too_long",
    `the input's column ${long} has a name of ${Buffer.byteLength(clean(long))} bytes; ${refusesLong} allows ${longest}`,
    { hint: "rename it in the input, or write to a file or to DuckDB" },
  );
}

function keepsName(name: string, { clean, longest }: ColumnRules, used: Set<string>): boolean {
  if (name === "" || clean(name) !== name || Buffer.byteLength(name) > longest) return false;
  const key = name.toLowerCase();
  if (used.has(key)) return false;
  used.add(key);
  return true;
}

function claim(wanted: string, { longest }: ColumnRules, used: Set<string>): string {
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

/** A name without control characters, U+0000 and lone surrogates. */
export function plainName(name: string): string {
  let clean = "";
  for (const character of storedText(name.trim())) {
    const code = character.codePointAt(0) ?? 0;
    clean += code < 0x20 || code === 0x7f ? "_" : character;
  }
  return clean;
}

/**
 * Makes a text storable in every output: U+0000 (not allowed in PostgreSQL text, manual section
 * 8.3) and lone surrogates (not encodable in UTF-8, RFC 3629, section 3) become U+FFFD.
 * @param onWarning called once per text for each kind of replacement
 */
export function storedText(text: string, onWarning?: (message: string) => void): string {
  let stored = text;
  if (stored.includes("\0")) {
    stored = stored.replaceAll("\0", "\uFFFD");
    onWarning?.("replaced U+0000 with U+FFFD in values that contain it");
  }
  if (!isWellFormed(stored)) {
    stored = toWellFormed(stored);
    onWarning?.("replaced invalid UTF-8 with U+FFFD in values that contain it");
  }
  return stored;
}

/** Those of a Parquet file. */
export const parquetRules: ColumnRules = {
  longest: Number.POSITIVE_INFINITY,
  clean: plainName,
  reserved: [],
  lacks: parquetLacks,
};
