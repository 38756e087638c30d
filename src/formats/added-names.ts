import { columns } from "../core/columns.js";
import { FatalError, UsageError } from "../core/errors.js";
import { RowCounter } from "../core/row.js";
import type { CountOptions, RecordCounter } from "./types.js";

/**
 * Names of the added columns under a prefix, in output order.
 *
 * @throws UsageError `column_clash` when the input has such a column already
 */
export function addedColumnNames(
  prefix: string,
  inputColumns: readonly string[],
): readonly string[] {
  const names = columns.map((column) => prefix + column.name);
  const taken = new Set(inputColumns.map((column) => column.trim()));
  const clashes = names.filter((name) => taken.has(name));
  if (clashes.length > 0) throw columnClash(clashes);
  return names;
}

/**
 * Name of the one member that nested output adds: the prefix without its last underscore.
 *
 * @throws UsageError `column_clash` when the input has such a member already
 */
export function addedMemberName(prefix: string, inputColumns: readonly string[]): string {
  const name = prefix.replace(/_$/, "");
  if (inputColumns.includes(name)) throw columnClash([name]);
  return name;
}

/** The same names, numbered where the input has them already. */
export function freshNames(names: readonly string[], taken: readonly string[]): readonly string[] {
  const known = new Set(taken.map((name) => name.trim()));
  return names.map((name) => {
    let fresh = name;
    for (let n = 2; known.has(fresh); n++) fresh = `${name}_${n}`;
    return fresh;
  });
}

/** The error of columns that the input has already. */
export function columnClash(names: readonly string[]): UsageError {
  const several = names.length > 1;
  return new UsageError(
    "column_clash",
    `the input already has ${several ? "columns" : "a column"} that would be added: ${names.join(", ")}`,
    { hint: "give the added columns another beginning, for example --prefix repute_" },
  );
}

/** What a row of an output says of itself. */
export interface RowFacts {
  readonly status: unknown;
  /** Null for none. */
  readonly verdict: unknown;
}

/**
 * Counts rows by status and verdict, one a record.
 *
 * @param factsOf reads a record; null for one that is no row, such as a header
 */
export function countRows(
  { hasVerdicts }: Pick<CountOptions, "hasVerdicts">,
  factsOf: (record: Buffer, row: number) => RowFacts | null,
): RecordCounter {
  const rows = new RowCounter(hasVerdicts);
  return {
    add(record) {
      const facts = factsOf(record, rows.rows + 1);
      const fault = facts === null ? null : rows.count(facts.status, facts.verdict);
      if (fault === null) return;
      throw new FatalError("output_corrupt", `row ${rows.rows} of the output has ${fault}`);
    },
    counted: () => rows.found(),
  };
}
