import type { TypedColumn } from "../../formats/typed-column.js";
import { quoteIdentifier } from "../warehouse/dialect.js";
import type { LoadSize, SavedRun } from "../warehouse/table-database.js";

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query. Large rows therefore share
 * a row group with filler, which is deleted again. The vectors of a table with a key keep the places
 * of deleted rows.
 */
export const vectorRows = 2_048;

/** Characters in a vector from which its rows are large. */
const largeVector = 128 * 1024 * 1024;

/** Whether rows would make vectors that are too large. */
export function isLarge({ rows, characters }: LoadSize): boolean {
  return rows > 0 && (characters / rows) * vectorRows > largeVector;
}

/** Number of rows that fill the last vector up; none beside rows that are not large. */
export function fillerFor(size: LoadSize): number {
  return isLarge(size) ? (vectorRows - (size.rows % vectorRows)) % vectorRows : 0;
}

/**
 * SQL to select filler for a run. Its row numbers are negative. Its texts are empty, not null: DuckDB
 * stores a null as the text before it, and would read that again.
 *
 * @param columns the first two are the key
 */
export function selectFiller(
  columns: readonly Pick<TypedColumn, "name" | "type">[],
  runId: string,
  filler: number,
): string {
  const cells = columns.map(({ type }, index) => {
    if (index === 0) return literal(runId);
    if (index === 1) return "-n";
    return type === "text" ? "''" : "NULL";
  });
  return `SELECT ${cells.join(", ")} FROM range(1, ${filler + 1}) AS filler(n)`;
}

/** SQL to remove the filler of a run. */
export function deleteFiller(
  table: string,
  columns: readonly Pick<TypedColumn, "name" | "type">[],
  runId: string,
): string {
  const [run = "", row = ""] = columns.map(({ name }) => quoteIdentifier("duckdb", name));
  return `DELETE FROM ${table} WHERE ${run} = ${literal(runId)} AND ${row} < 0`;
}

/**
 * SQL to select number and size of a run's large rows with one status. Only the texts of rows that an
 * equality selects are read; `IN`, or a join, reads all of them.
 *
 * @param texts names of the text columns
 */
export function selectLargeRows(
  table: string,
  { runId, prefix }: SavedRun,
  status: string,
  texts: readonly string[],
): string {
  const ours = (name: string): string => quoteIdentifier("duckdb", prefix + name);
  const sizes = texts.map((name) => `coalesce(strlen(${quoteIdentifier("duckdb", name)}), 0)`);
  return `SELECT number, size FROM (SELECT ${ours("row")} AS number, ${sizes.join(" + ")} AS size
    FROM ${table} WHERE ${ours("run_id")} = ${literal(runId)} AND ${ours("status")} = ${literal(status)})
    WHERE size > ${largeVector / vectorRows}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
