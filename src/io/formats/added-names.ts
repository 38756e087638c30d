import type { Column } from "../../core/column.js";
import { columns } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";

/**
 * Names of the added columns with the prefix, in output order.
 * @throws UsageError `column_clash` if the input already has one of them
 */
export function addedColumnNames(
  prefix: string,
  inputColumns: readonly string[],
  added: readonly Column[] = columns,
): readonly string[] {
  const names = added.map((column) => prefix + column.name);
  const taken = new Set(inputColumns.map((column) => column.trim()));
  // A reader could not tell a column of the input from one that `--columns` omits.
  const ours = new Set([...names, ...columns.map((column) => prefix + column.name)]);
  const clashes = [...ours].filter((name) => taken.has(name));
  if (clashes.length > 0) throw columnClash(clashes);
  return names;
}

/**
 * Name of the member that nested output adds: the prefix without its trailing underscore.
 * @throws UsageError `column_clash` if the input already has that member
 */
export function addedMemberName(prefix: string, inputColumns: readonly string[]): string {
  const name = prefix.replace(/_$/, "");
  if (inputColumns.includes(name)) throw columnClash([name]);
  return name;
}

export function columnClash(names: readonly string[]): UsageError {
  const several = names.length > 1;
  return new UsageError(
    "column_clash",
    `the input already has ${several ? "columns" : "a column"} that would be added: ${names.join(", ")}`,
    { hint: "choose another prefix for the added columns, for example --prefix repute_" },
  );
}
