import { isAsked } from "./rate-columns.js";
import { quoted } from "../../../core/wording/printable.js";
import { strip } from "../../../core/item/refang.js";
import { counted, firstNames, formatCount, shellWord } from "../../../core/wording/quantity.js";
import { didYouMean } from "../../../core/wording/did-you-mean.js";
import { UsageError } from "../../../core/errors.js";
import type { ColumnPlace, ColumnSample, OtherColumns, RatedColumn } from "../types.js";
import type { Column } from "../../../core/column.js";
import { columns } from "../../../core/columns.js";

export interface ColumnFlag {
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

/** The names of columns: `column_N` for one with the name of an earlier one. */
export function distinctNames(columns: readonly string[]): readonly string[] {
  const names = columns.map((name) => name.trim());
  return columns.map((name, index) =>
    name.trim() !== "" && names.indexOf(name.trim()) < index ? positionalName(index) : name,
  );
}

/** What names may be. */
export interface NameRules {
  /** Longest name, in bytes of UTF-8. */
  readonly longest: number;
  /** Makes a name valid; "" if nothing of it is. */
  readonly clean: (name: string) => string;
}

/**
 * Makes names valid and unique: an empty one becomes `column_N`, a second `name` becomes `name_2`. Names
 * that are valid and unique stay unchanged, whatever the others become.
 *
 * @param keyOf what is compared of names
 * @param taken keys of names that there are
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

/** The characters that fit into so many bytes. */
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

/** Why no column is chosen. `unreadable`: it has a usual name, and no items in most of its cells. */
export type ColumnProblem =
  | { readonly problem: "none" }
  | { readonly problem: "several" }
  | { readonly problem: "unreadable"; readonly column: RatedColumn };

/** @param isTable whether the input is no text, so that `repute extract` can't read it */
export function noItemColumn(
  input: string,
  columns: readonly RatedColumn[],
  why: ColumnProblem,
  isTable = false,
): UsageError {
  const shares = columns.map((each) => `  ${shownColumns([each])}  ${shareText(each.sample)}`);
  const isLacking = why.problem === "none" && columns.every(({ sample }) => sample.queryable === 0);
  const message = [`${input}: ${problemText(why)}. Share of indicators per column:`, ...shares];
  return new UsageError(isLacking ? "column_not_found" : "column_ambiguous", message.join("\n"), {
    hint: columnHint(input, columns, why, isTable),
    command: enrichCommand(input),
  });
}

function problemText(why: ColumnProblem): string {
  if (why.problem === "several") return "several columns could hold the items";
  if (why.problem === "none") {
    return "no column has indicators in at least half of its sampled cells";
  }
  const { indicators, cells } = why.column.sample;
  const found = `${indicators} of ${counted(cells, "sampled cell")}`;
  const are = indicators === 1 ? "is an indicator" : "are indicators";
  return `column ${shownColumns([why.column])} can't be read: only ${found} ${are}`;
}

/** The command that takes all columns with items, and the one that finds items inside cells. */
function columnHint(
  input: string,
  columns: readonly RatedColumn[],
  why: ColumnProblem,
  isTable: boolean,
): string {
  const enrich = (taken: readonly RatedColumn[]): string =>
    `${enrichCommand(input)}${itemFlags(taken)}`;
  const found = columns.filter(isAsked);
  if (why.problem === "several") {
    const likely = found.filter(({ sample }) => sample.share >= minShare);
    const taken = [likely, found, columns].find(({ length }) => length > 0) ?? [];
    return `name one, or look up all of them: ${enrich(taken)}`;
  }
  const inside = `to find the items inside its cells: ${extractPipe([input])}`;
  if (found.length > 0) {
    const all = `to look up what there is: ${enrich(found)}`;
    return isTable ? all : `${all}; ${inside}`;
  }
  const name = "name the column with --item-column NAME";
  return isTable ? name : `${inside}; or ${name}`;
}

function enrichCommand(input: string): string {
  return `repute enrich ${input === "stdin" ? "-" : shellWord(input)}`;
}

/** The command that finds the items inside the cells and lines of inputs. */
export function extractPipe(inputs: readonly string[]): string {
  const files = inputs.filter((input) => input !== "-" && input !== "stdin");
  return `repute extract${files.map((file) => ` ${shellWord(file)}`).join("")} | repute enrich - -o OUT`;
}

function itemFlags(columns: readonly ColumnPlace[]): string {
  return columns.map((column) => ` --item-column ${shellWord(columnName(column))}`).join("");
}

export const minShare = 0.5;

/** A column's trimmed name; `column_N` without one. */
export function columnName({ name, index }: ColumnPlace): string {
  return name.trim() === "" ? positionalName(index) : name.trim();
}

export function shownColumns(columns: readonly ColumnPlace[]): string {
  return columns.map((column) => quoted(columnName(column))).join(", ");
}

/** Names the columns with items that are not looked up, and the flags that take them too. */
export function othersNotice(
  items: readonly ColumnPlace[],
  { sampled, columns }: OtherColumns,
): string {
  const found = columns.map(
    (column) =>
      `${shownColumns([column])} ${columns.length === 1 ? "has items too " : ""}(${formatCount(column.rows)} of ${counted(sampled, "row")})`,
  );
  const what =
    columns.length === 1 ? `column ${found[0]}` : `columns ${found.join(", ")} have items too`;
  // `ips[]` takes single values, too.
  const own = items.filter(({ name }) => !columns.some((other) => other.name === `${name}[]`));
  return `${what}:${itemFlags([...own, ...columns])}`;
}

function shareText({ share, cells, queryable, kind }: ColumnSample): string {
  const found = `${percent(share)} of ${cells} sampled ${cells === 1 ? "cell" : "cells"}`;
  return kind === null
    ? found
    : `${found}; ${kind} to look up in ${percent(queryable)} of the rows`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** Names of the added columns with the prefix, in output order. */
export function addedColumnNames(
  prefix: string,
  inputColumns: readonly string[],
  added: readonly Column[] = columns,
): readonly string[] {
  const names = added.map((column) => prefix + column.name);
  const taken = new Set(inputColumns.map((column) => column.trim()));
  // A reader would take such a column for one of ours, even if `--columns` omits it.
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
    hint: "choose another prefix for the added columns, for example --prefix repute_; of an output of repute, repute retry asks again for the failed and partial rows",
  });
}
