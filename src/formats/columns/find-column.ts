import type { Warnings } from "../reading/lines.js";
import { parseKindName } from "../../core/item/item.js";
import { strip } from "../../core/item/refang.js";
import { shellWord } from "../../core/text/quantity.js";
import { didYouMean } from "../../core/text/did-you-mean.js";
import { UsageError } from "../../core/errors.js";
import type { ColumnPlace, ColumnSample, ItemColumn } from "../types.js";

/** Customary names of item columns. The first one that holds indicators is used. */
export const customaryItemColumns = ["item", "indicator", "ioc", "value", "data"];

/** Whether a text names an item column or a kind: `ip` above addresses is a header. */
export function isColumnName(text: string): boolean {
  return customaryItemColumns.includes(text.toLowerCase()) || parseKindName(text) !== null;
}

export interface ColumnFlag {
  readonly flag: "--item-column" | "--kind-column";
  readonly wanted: string;
}

/**
 * Finds a column by name: an exact match, else ignoring surrounding spaces, else ignoring case and
 * quotes (csv-parse keeps those of `"IP" ,Note`), else without a leading `#`, else by position
 * (`column_2`) for unnamed columns.
 */
export function matchColumn(columns: readonly string[], wanted: string): ColumnPlace | null {
  const trimmed = wanted.trim();
  const lower = strip(trimmed).toLowerCase();
  let index = columns.indexOf(wanted);
  if (index === -1) index = columns.findIndex((column) => column.trim() === trimmed);
  if (index === -1) index = columns.findIndex((column) => strip(column).toLowerCase() === lower);
  if (index === -1 && wanted.startsWith("#")) return matchColumn(columns, wanted.slice(1));
  if (index === -1) index = unnamedColumn(columns, lower);
  return index === -1 ? null : { name: columns[index]!, index };
}

function unnamedColumn(columns: readonly string[], wanted: string): number {
  return columns.findIndex((name, index) => name.trim() === "" && wanted === positionalName(index));
}

export function positionalName(index: number): string {
  return `column_${index + 1}`;
}

export function warnOfDuplicateName(
  columns: readonly string[],
  choice: ColumnPlace,
  warnings: Warnings,
): void {
  const name = choice.name.trim();
  if (columns.some((column, index) => index !== choice.index && column.trim() === name)) {
    warnings.add(`several columns are named ${quotedName(name)}; using the first`);
  }
}

/** Formats a column name for a message: quoted, control characters escaped, cut if too long. */
function quotedName(name: string): string {
  return JSON.stringify(name.length > maxNameLength ? `${name.slice(0, maxNameLength)}…` : name);
}

const maxNameLength = 100;

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
          ? `Set ${flag} to one of them.`
          : `Did you mean ${quotedName(suggestion.trim())}?`,
    },
  );
}

export interface RatedColumn extends Omit<ItemColumn, "by"> {
  readonly sample: ColumnSample;
}

export function noItemColumn(
  input: string,
  columns: readonly RatedColumn[],
  problem: "none" | "several",
): UsageError {
  const names = columns.map(({ name }) => name);
  const shares = columns.map(
    (column) => `  ${shownColumns([column])}  ${shareText(column.sample)}`,
  );
  const message =
    problem === "none"
      ? `${input}: no column has indicators in at least half of its sampled cells`
      : `${input}: several columns could hold the items`;
  return new UsageError(
    problem === "none" ? "column_not_found" : "column_ambiguous",
    [`${message}. Share of indicators per column:`, ...shares].join("\n"),
    { hint: separatorHint(names) ?? columnHint(input, columns, problem) },
  );
}

/** The command that takes all columns with items. */
function columnHint(
  input: string,
  columns: readonly RatedColumn[],
  problem: "none" | "several",
): string {
  const candidates = columns.filter(
    ({ sample }) => sample.queryable > 0 && (problem === "none" || sample.share >= minShare),
  );
  if (candidates.length === 0) {
    return "none of its sampled rows has an item to look up; name the column with --item-column NAME";
  }
  const flags = candidates.map((column) => ` --item-column ${shellWord(columnName(column))}`);
  const file = input === "stdin" ? "-" : shellWord(input);
  return candidates.length === 1
    ? `to look up what there is: repute enrich ${file}${flags.join("")}`
    : `name one, or look up all of them: repute enrich ${file}${flags.join("")}`;
}

export const minShare = 0.5;

/** A column's name without spaces around it: `column_N` if it has none. */
export function columnName({ name, index }: ColumnPlace): string {
  return name.trim() === "" ? positionalName(index) : name.trim();
}

export function shownColumns(columns: readonly ColumnPlace[]): string {
  return columns.map((column) => quotedName(columnName(column))).join(", ");
}

function shareText({ share, cells, queryable, kind }: ColumnSample): string {
  const found = `${percent(share)} of ${cells} sampled ${cells === 1 ? "cell" : "cells"}`;
  return kind === null ? found : `${found}; ${kind} in ${percent(queryable)} of the rows`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function listed(columns: readonly string[]): string {
  if (columns.length === 0) return "It has no columns.";
  return `Its columns are: ${columns.map((column) => quotedName(column.trim())).join(", ")}.`;
}

/** A single column that contains separators suggests another format. */
function separatorHint(columns: readonly string[]): string | null {
  const only = columns.length === 1 ? columns[0]! : "";
  if (only.includes("\t")) return "the file looks tab-separated: try --from tsv";
  if (only.includes(",")) return "the file looks comma-separated: try --from csv";
  if (only.includes(";")) return "the file looks semicolon-separated: try --from csv";
  return null;
}
