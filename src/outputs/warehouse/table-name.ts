import { UsageError } from "../../core/errors.js";
import type { TableName } from "./dialect.js";

/** Table that is written when none is named. */
export const defaultTable = "enriched";

/**
 * Reads `table` or `schema.table`; the first dot divides them.
 *
 * @throws UsageError `bad_table` when a part is empty or holds U+0000
 */
export function parseTableName(text: string): TableName {
  const dot = text.indexOf(".");
  const schema = dot < 0 ? null : text.slice(0, dot);
  const name = text.slice(dot + 1);
  if (name === "" || schema === "" || text.includes("\0")) {
    throw new UsageError("bad_table", `${JSON.stringify(text)} names no table`, {
      hint: "write table=NAME or table=SCHEMA.NAME",
    });
  }
  return { schema, name };
}

/** Longest name in PostgreSQL, in bytes (4.1.1, NAMEDATALEN): the server cuts longer ones silently. */
export const longestPostgresName = 63;

/** What the name of the view beside a table ends with. */
export const newestViewSuffix = "_newest";

/**
 * The same for PostgreSQL, whose names are short.
 *
 * @throws UsageError `bad_table`; `name_too_long` also where the view's name would be too long
 */
export function parsePostgresTable(text: string): TableName {
  const table = parseTableName(text);
  const { schema, name } = table;
  const longest = longestPostgresName - newestViewSuffix.length;
  if (schema !== null && Buffer.byteLength(schema) > longestPostgresName) {
    throw new UsageError(
      "name_too_long",
      `the schema name ${schema} has ${Buffer.byteLength(schema)} bytes; PostgreSQL allows ${longestPostgresName}`,
      { hint: `choose a schema with a name of at most ${longestPostgresName} bytes` },
    );
  }
  if (Buffer.byteLength(name) > longest) {
    throw new UsageError(
      "name_too_long",
      `the table name ${name} has ${Buffer.byteLength(name)} bytes; PostgreSQL allows ${longestPostgresName}, and the view beside the table adds ${newestViewSuffix}`,
      { hint: `choose a name of at most ${longest} bytes` },
    );
  }
  return table;
}

/** A table's name as it was written, for messages. */
export function tableText({ schema, name }: TableName): string {
  return schema === null ? name : `${schema}.${name}`;
}
