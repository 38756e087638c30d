import { UsageError } from "../../../core/errors.js";
import { doubleQuoted } from "./dialect.js";

/** The JSON of a text, as SQL: null for null. */
export function textJson(text: string): string {
  return `to_json(${text})::text`;
}

/** Within NDJSON, line ends would break a record; JSON has them only between tokens. */
export function onOneLine(json: string): string {
  return `replace(replace(${json}, chr(10), ' '), chr(13), ' ')`;
}

/** RFC 3339 of a time as both databases print it. Infinite ones and those of other eras stay as they are. */
export function timeJson(text: string): string {
  const parts = String.raw`^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$`;
  return textJson(String.raw`regexp_replace(${text}, '${parts}', '\1T\2Z')`);
}

/** The name of a column in the query of a copy. */
export const copiedName = (index: number): string => `c${index}`;

/**
 * A SELECT of the lines of a copy, without a header.
 *
 * @param columns the JSON of each, which is named by `copiedName`, as SQL: null for null
 * @param line the name of the only column
 */
export function selectLines(query: string, columns: readonly string[], line: string): string {
  const values = columns.map((json) => `coalesce(${json}, 'null')`);
  const lineOf = `'[' || array_to_string(ARRAY[${values.join(", ")}]::text[], ',') || ']'`;
  const aliases = columns.map((_, index) => copiedName(index)).join(", ");
  // The query may end in a comment.
  return `SELECT ${lineOf} AS ${doubleQuoted(line)} FROM (${query}\n) AS input(${aliases})`;
}

export function sqlText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

export function queryRefused(said: string, cause?: unknown): UsageError {
  return new UsageError("bad_query", `the database refuses the query: ${said}`, {
    cause,
    hint: "correct the query of the input; it has to be a single SELECT, which writes nothing",
  });
}

export const severalStatements = "it has several statements";
