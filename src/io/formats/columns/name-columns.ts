import { quoted } from "../../../core/wording/printable.js";
import { strip } from "../../../core/item/refang.js";
import { firstNames, shellWord } from "../../../core/wording/quantity.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import { UsageError } from "../../../core/errors.js";
import type { ColumnPlace } from "../types.js";
import type { Column } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";

interface ColumnFlag {
  readonly flag: "--item-column" | "--kind-column" | "--tlp-column" | "--input-columns";
  readonly wanted: string;
}

/**
 * Finds a column by name: an exact match, else ignoring surrounding spaces, else ignoring case and
 * quotes (csv-parse keeps those of `"IP" ,Note`), else without a leading `#`, else by position
 * (`column_2`), for columns without a name or with that of an earlier one.
 */
export function matchColumn(columns: readonly string[], wanted: string): ColumnPlace | null {
  const trimmed = wanted.trim();
  const lower = strip(trimmed).toLowerCase();
  let index = columns.indexOf(wanted);
  if (index === -1) index = columns.findIndex((column) => column.trim() === trimmed);
  if (index === -1) index = columns.findIndex((column) => strip(column).toLowerCase() === lower);
  if (index === -1 && wanted.startsWith("#")) return matchColumn(columns, wanted.slice(1));
  if (index !== -1) return { name: columns[index]!, index };
  index = distinctNames(columns).findIndex((name, at) => columnName({ name, index: at }) === lower);
  return index === -1 ? null : { name: lower, index };
}

/** The names of columns; one that repeats an earlier name becomes `column_N`. */
export function distinctNames(columns: readonly string[]): readonly string[] {
  const names = columns.map((name) => name.trim());
  return columns.map((name, index) =>
    name.trim() !== "" && names.indexOf(name.trim()) < index ? positionalName(index) : name,
  );
}

/** Rules for column names. */
export interface NameRules {
  /** Longest name, in bytes of UTF-8. */
  readonly longest: number;
  /** The valid form of a name; "" if there is none. */
  readonly clean: (name: string) => string;
}

/**
 * Makes names valid and unique: an empty one becomes `column_N`, a second `name` becomes `name_2`. Names
 * that are valid and unique stay unchanged, whatever the others become.
 *
 * @param keyOf the text that must be unique, such as the name in lower case
 * @param taken keys already in use
 */
export function uniqueNames(
  names: readonly string[],
  { longest, clean }: NameRules,
  keyOf: (name: string) => string,
  taken: readonly string[],
): readonly string[] {
  const used = new Set(taken);
  const claim = (name: string): string | null => {
    const isFree = !used.has(keyOf(name));
    used.add(keyOf(name));
    return isFree ? name : null;
  };
  const isValid = (name: string): boolean =>
    name !== "" && clean(name) === name && Buffer.byteLength(name) <= longest;
  const kept = names.map((name) => (isValid(name) ? claim(name) : null));
  return names.map((name, index) => {
    const wanted = clean(name) || positionalName(index);
    let unique = kept[index] ?? claim(cut(wanted, longest));
    for (let n = 2; unique === null; n++) {
      const suffix = `_${n}`;
      unique = claim(cut(wanted, longest - suffix.length) + suffix);
    }
    return unique;
  });
}

/** The longest prefix of whole characters that fits into so many bytes. */
function cut(name: string, longest: number): string {
  let end = name.slice(0, longest);
  while (Buffer.byteLength(end) > longest) end = Array.from(end).slice(0, -1).join("");
  return end;
}

/** Whether a path takes the elements of a list: `ips[]`, `observables[].value`. */
export function isListPath(name: string): boolean {
  return name.includes("[]");
}

export function positionalName(index: number): string {
  return `column_${index + 1}`;
}

export function warnOfDuplicateName(
  columns: readonly string[],
  choice: ColumnPlace,
  warnings: string[],
): void {
  const name = choice.name.trim();
  const others = distinctNames(columns).filter(
    (_, index) => index !== choice.index && columns[index]!.trim() === name,
  );
  if (others.length === 0) return;
  warnings.push(
    `several columns are named ${quoted(name)}; using the first (the others: ${others.join(", ")})`,
  );
}

/** The column that a flag names. @throws UsageError `column_not_found` */
export function namedColumn(
  input: string,
  columns: readonly string[],
  named: ColumnFlag,
): ColumnPlace {
  const place = matchColumn(columns, named.wanted);
  if (place === null) throw unknownColumn(input, columns, named);
  return place;
}

export function unknownColumn(
  input: string,
  columns: readonly string[],
  { flag, wanted }: ColumnFlag,
): UsageError {
  const suggestion = didYouMean(wanted, columns);
  const names = columns.map((column) => quoted(column.trim())).join(", ");
  const has = columns.length === 0 ? "It has no columns." : `Its columns are: ${names}.`;
  const hint =
    suggestion === null
      ? `Set ${flag} to one of them.`
      : `Did you mean ${quoted(suggestion.trim())}?`;
  const message = `${input} has no column ${quoted(wanted)} (${flag}). ${has}`;
  return new UsageError("column_not_found", message, { hint });
}

/** The command that finds the items inside the cells and lines of inputs. */
export function extractPipe(inputs: readonly string[]): string {
  const files = inputs.filter((input) => input !== "-" && input !== "stdin");
  return `repute extract${files.map((file) => ` ${shellWord(file)}`).join("")} | repute enrich - -o OUT`;
}

/** Least share of indicators of a column that is chosen. */
export const minShare = 0.5;

/** A column's trimmed name; `column_N` without one. */
export function columnName({ name, index }: ColumnPlace): string {
  return name.trim() === "" ? positionalName(index) : name.trim();
}

export function shownColumns(columns: readonly ColumnPlace[]): string {
  return columns.map((column) => quoted(columnName(column))).join(", ");
}

/** Names of the added columns with the prefix, in output order. */
export function addedColumnNames(
  prefix: string,
  inputColumns: readonly string[],
  added: readonly Column[] = columns,
): readonly string[] {
  const names = added.map((column) => prefix + column.name);
  const taken = new Set(inputColumns.map((column) => column.trim()));
  // Also those that `--columns` omits: readers would take the input's columns for them.
  const ours = new Set([...names, ...columns.map((column) => prefix + column.name)]);
  const clashes = [...ours].filter((name) => taken.has(name));
  if (clashes.length > 0) throw columnClash(clashes);
  return names;
}

/** Name of the member that nested output adds: the prefix without its trailing underscore. */
export function addedMemberName(prefix: string, inputColumns: readonly string[]): string {
  const name = prefix.replace(/_$/, "");
  if (inputColumns.includes(name)) throw columnClash([name]);
  return name;
}

export function columnClash(names: readonly string[]): UsageError {
  const what = names.length > 1 ? "columns" : "a column";
  const message = `the input already has ${what} that would be added: ${firstNames(names, 3)}`;
  return new UsageError("column_clash", message, {
    hint: "choose another prefix for the added columns, for example --prefix repute_; if the input is an output of repute, use repute retry to look up its failed and partial rows again",
  });
}
