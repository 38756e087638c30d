import { UsageError } from "../../../core/errors.js";
import { memberKeys } from "../../formats/ndjson/ndjson-output.js";
import type { CopyShape } from "../../input/table-input.js";
import { doubleQuoted } from "./dialect.js";

/** A column of a copied query, as SQL: its text and its JSON, both null for null. */
export interface CopiedColumn {
  readonly text: string;
  readonly json: string;
}

/** A column that is text in JSON, too. */
export function textColumn(text: string): CopiedColumn {
  return { text, json: `to_json(${text})::text` };
}

/** Within NDJSON, line ends would break a record; JSON has them only between tokens. */
export function onOneLine(json: string): string {
  return `replace(replace(${json}, chr(10), ' '), chr(13), ' ')`;
}

/** RFC 3339 of a time as both databases print it. Infinite ones and those of other eras stay as they are. */
export function timeColumn(text: string): CopiedColumn {
  const parts = String.raw`^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$`;
  return textColumn(String.raw`regexp_replace(${text}, '${parts}', '\1T\2Z')`);
}

/** The name of a column in the query of a copy. */
export const copiedName = (index: number): string => `c${index}`;

export interface CopiedQuery {
  readonly shape: CopyShape;
  readonly query: string;
  /** Names may repeat. */
  readonly names: readonly string[];
  /** One per column, which is named by `copiedName`. */
  readonly columns: readonly CopiedColumn[];
  /** The name of the only column. */
  readonly line: string;
}

/** A SELECT of the lines of a copy, without a header. */
export function selectLines({ shape, query, names, columns, line }: CopiedQuery): string {
  const keys = memberKeys(names);
  const member = ({ json }: CopiedColumn, index: number): string =>
    `${sqlText(keys[index]!)} || coalesce(${json}, 'null')`;
  const lineOf =
    shape === "cells"
      ? `to_json(ARRAY[${columns.map(({ text }) => text).join(", ")}]::text[])::text`
      : `'{' || array_to_string(ARRAY[${columns.map(member).join(", ")}]::text[], ',') || '}'`;
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
