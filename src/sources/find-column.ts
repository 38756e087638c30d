import { quotedName } from "./quoted-name.js";
import type { Warnings } from "./warnings.js";

/** Names by which an item column is found when none is given (behaviour: Commands). */
export const customaryItemColumns = ["item", "indicator", "ioc", "value", "ip", "domain", "url"];

export interface ColumnChoice {
  readonly name: string;
  readonly index: number;
}

/** A flag that names a column, and what it was given. */
export interface ColumnFlag {
  readonly flag: "--item-column" | "--kind-column";
  readonly wanted: string;
}

/** A column by its name: as it stands, else but for spaces around it, else but for letter case. */
export function matchColumn(columns: readonly string[], wanted: string): ColumnChoice | null {
  const trimmed = wanted.trim();
  const lower = trimmed.toLowerCase();
  let index = columns.indexOf(wanted);
  if (index === -1) index = columns.findIndex((column) => column.trim() === trimmed);
  if (index === -1) index = columns.findIndex((column) => column.trim().toLowerCase() === lower);
  return index === -1 ? null : { name: columns[index]!, index };
}

/** The first customary item column that is there, or null. */
export function matchCustomary(columns: readonly string[]): ColumnChoice | null {
  for (const name of customaryItemColumns) {
    const choice = matchColumn(columns, name);
    if (choice !== null) return choice;
  }
  return null;
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
