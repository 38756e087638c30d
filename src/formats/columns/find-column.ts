import type { Warnings } from "../reading/lines.js";
import { didYouMean } from "../../core/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { SharedColumn } from "./choose-column.js";
import type { ColumnPlace, ColumnSample } from "../types.js";

/** Names that item columns usually have; the first that holds indicators is taken. */
export const customaryItemColumns = [
  "item",
  "indicator",
  "ioc",
  "value",
  "data",
  "ip",
  "domain",
  "url",
];

/** A flag that names a column, and what it was given. */
export interface ColumnFlag {
  readonly flag: "--item-column" | "--kind-column";
  readonly wanted: string;
}

/**
 * A column by its name: as it stands, else but for spaces around it, else but for letter case, else
 * without a `#` before it, else by its place (`column_2`) where that column has no name.
 */
export function matchColumn(columns: readonly string[], wanted: string): ColumnPlace | null {
  const trimmed = wanted.trim();
  const lower = trimmed.toLowerCase();
  let index = columns.indexOf(wanted);
  if (index === -1) index = columns.findIndex((column) => column.trim() === trimmed);
  if (index === -1) index = columns.findIndex((column) => column.trim().toLowerCase() === lower);
  if (index === -1 && wanted.startsWith("#")) return matchColumn(columns, wanted.slice(1));
  if (index === -1) index = unnamedColumn(columns, lower);
  return index === -1 ? null : { name: columns[index]!, index };
}

function unnamedColumn(columns: readonly string[], wanted: string): number {
  return columns.findIndex((name, index) => name.trim() === "" && wanted === placeName(index));
}

/** What a column without a name is called. */
export function placeName(index: number): string {
  return `column_${index + 1}`;
}

/** Warns when the chosen column's name stands for several columns. */
export function warnOfTwins(
  columns: readonly string[],
  choice: ColumnPlace,
  warnings: Warnings,
): void {
  const name = choice.name.trim();
  if (columns.some((column, index) => index !== choice.index && column.trim() === name)) {
    warnings.add(`several columns are named ${quotedName(name)}; the first of them is used`);
  }
}

/** A column's name for a message: in quotes, control characters escaped, cut where overlong. */
function quotedName(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

const longestName = 100;

/** The error of a flag that names a column that is not there. */
export function unknownColumn(
  input: string,
  columns: readonly string[],
  { flag, wanted }: ColumnFlag,
): UsageError {
  const suggestion = didYouMean(wanted, columns);
  return new UsageError(
    "column_not_found",
    `${input} has no column ${quotedName(wanted)} (${flag}). ${listed(columns)}`,
    {
      hint:
        suggestion === null
          ? `Give ${flag} one of them.`
          : `Did you mean ${quotedName(suggestion.trim())}?`,
    },
  );
}

/** The error of an input of whose columns none, or several, may hold the items. */
export function noItemColumn(
  input: string,
  columns: readonly SharedColumn[],
  problem: "none" | "several",
): UsageError {
  const names = columns.map(({ name }) => name);
  if ((names.join("").match(controls)?.length ?? 0) > 1) {
    return new UsageError("column_not_found", `${input} does not begin with names of columns`, {
      hint: "It seems to be no text file: is it compressed, encrypted or of another kind?",
    });
  }
  const shares = columns.map((column) => `  ${shownColumn(column)}  ${shareText(column.sample)}`);
  const message =
    problem === "none"
      ? `${input}: no column holds indicators in at least half of its sampled cells`
      : `${input}: several columns may hold the item`;
  return new UsageError(
    problem === "none" ? "column_not_found" : "column_ambiguous",
    [`${message}. Indicators in each:`, ...shares].join("\n"),
    { hint: separatorHint(names) ?? "Say with --item-column NAME which one holds the items." },
  );
}

/** A column as a message calls it: by its name, or by its place where it has none. */
export function shownColumn({ name, index }: Pick<SharedColumn, "name" | "index">): string {
  return quotedName(name.trim() === "" ? placeName(index) : name.trim());
}

function shareText({ share, cells }: ColumnSample): string {
  return `${Math.round(share * 100)}% of ${cells} sampled ${cells === 1 ? "cell" : "cells"}`;
}

function listed(columns: readonly string[]): string {
  if (columns.length === 0) return "It has no columns.";
  return `Its columns are: ${columns.map((column) => quotedName(column.trim())).join(", ")}.`;
}

/** Control characters that no text has; a single one may have slipped in. */
const controls = /[^\P{Cc}\t\r\n]/gu;

/** A single column that holds separators tells of another format than the one that was said. */
function separatorHint(columns: readonly string[]): string | null {
  const only = columns.length === 1 ? columns[0]! : "";
  if (only.includes("\t")) return "The columns seem to be separated by tabs: try --from tsv.";
  if (only.includes(",")) return "The columns seem to be separated by commas: try --from csv.";
  if (only.includes(";")) return "The columns seem to be separated by semicolons: try --from csv.";
  return null;
}
