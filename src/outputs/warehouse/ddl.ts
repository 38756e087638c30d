import { UsageError } from "../../core/errors.js";
import {
  createTable,
  type DialectName,
  dialectNames,
  newestViewSuffix,
  parsePostgresTable,
  parseTableName,
  quoteIdentifier,
  quoteTable,
  type TableName,
} from "./dialect.js";
import { jsonSchema } from "./json-schema.js";
import { tableSchema, type TableSchema } from "./table-schema.js";

/** What a table can be printed as. */
export const schemaFormats = ["json-schema", ...dialectNames] as const;

export type SchemaFormat = (typeof schemaFormats)[number];

export interface SchemaTextOptions {
  /** The input's columns as they stand in the input. */
  readonly inputColumns: readonly string[];
  /** What the added columns' names begin with, e.g. `rep_`. */
  readonly prefix: string;
  /** `table` or `schema.table`; BigQuery also `project.dataset.table`. Not used by json-schema. */
  readonly table: string;
}

/**
 * The enriched table as text that ends with a line end: statements for a database, or one JSON
 * Schema for the rows of NDJSON output.
 *
 * @throws UsageError `column_clash`, `bad_table`, `name_too_long`, `too_many_columns`
 */
export function schemaText(format: SchemaFormat, options: SchemaTextOptions): string {
  if (format === "json-schema") return `${JSON.stringify(jsonSchema(options), null, 2)}\n`;
  const table = tableOf(format, options.table);
  const schema = tableSchema(format, options);
  if (schema.columns.length > mostColumns[format]) {
    throw new UsageError(
      "too_many_columns",
      `the table would have ${schema.columns.length} columns; ${format} allows ${mostColumns[format]}`,
    );
  }
  return `${createTable(format, table, schema)}\n\n${createNewestView(format, table, schema)}\n`;
}

/**
 * CREATE VIEW of the newest row of each item: the one whose answer came last; among rows that
 * share an answer, one is chosen the same way every time. Rows without an item are left out.
 *
 * @param create OR REPLACE for a table that got more columns: a view has those of its first day
 */
export function createNewestView(
  dialect: DialectName,
  table: TableName,
  { prefix, key }: Pick<TableSchema, "prefix" | "key">,
  create = "CREATE VIEW",
): string {
  const quote = (name: string): string => quoteIdentifier(dialect, name);
  const item = `${quote(`${prefix}kind`)}, ${quote(`${prefix}item`)}`;
  const order = `${quote(`${prefix}looked_up_at`)} DESC NULLS LAST, ${quote(key[0])} DESC, ${quote(key[1])} DESC`;
  const known = `WHERE ${quote(`${prefix}item`)} IS NOT NULL`;
  const from = `FROM ${quoteTable(dialect, table)}`;
  const select =
    dialect === "postgres"
      ? [`SELECT DISTINCT ON (${item}) *`, from, known, `ORDER BY ${item}, ${order}`]
      : [
          "SELECT *",
          from,
          known,
          `QUALIFY row_number() OVER (PARTITION BY ${item} ORDER BY ${order}) = 1`,
        ];
  const view = quoteTable(dialect, { ...table, name: newestViewName(table.name) });
  return `${create} ${view} AS\n${select.join("\n")};`;
}

/** Name of the view beside a table. */
export function newestViewName(table: string): string {
  return table + newestViewSuffix;
}

/** PostgreSQL, Appendix K; BigQuery, Quotas, Tables; DuckDB has no limit of its own. */
const mostColumns: Readonly<Record<DialectName, number>> = {
  postgres: 1_600,
  duckdb: Number.POSITIVE_INFINITY,
  bigquery: 10_000,
};

function tableOf(dialect: DialectName, text: string): TableName {
  if (dialect === "postgres") return parsePostgresTable(text);
  const dot = text.lastIndexOf(".");
  // BigQuery's data sets are named with their project: `project.dataset` is one quoted path.
  if (dialect !== "bigquery" || dot === text.indexOf(".")) return parseTableName(text);
  return { schema: text.slice(0, dot), name: parseTableName(text.slice(dot + 1)).name };
}
