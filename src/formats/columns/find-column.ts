import type { Warnings } from "../reading/warnings.js";

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

export interface ColumnChoice {
  readonly name: string;
  readonly index: number;
}

/** A flag that names a column, and what it was given. */
export interface ColumnFlag {
  readonly flag: "--item-column" | "--kind-column";
  readonly wanted: string;
}

/**
 * A column by its name: as it stands, else but for spaces around it, else but for letter case, else
 * without a `#` before it, else by its place (`column_2`) where that column has no name.
 */
export function matchColumn(columns: readonly string[], wanted: string): ColumnChoice | null {
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
  choice: ColumnChoice,
  warnings: Warnings,
): void {
  const name = choice.name.trim();
  if (columns.some((column, index) => index !== choice.index && column.trim() === name)) {
    warnings.add(`several columns are named ${quotedName(name)}; the first of them is used`);
  }
}

/** A column's name for a message: in quotes, control characters escaped, cut where overlong. */
export function quotedName(name: string): string {
  return JSON.stringify(name.length > longestName ? `${name.slice(0, longestName)}…` : name);
}

const longestName = 100;
