import type { OptionalColumns } from "../../core/columns.js";
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
import { createChangesView } from "./changes-view.js";
import { jsonSchema } from "./json-schema.js";
import { tableSchema, type TableSchema } from "./table-schema.js";

/** Output formats of `repute schema`. */
export const schemaFormats = ["json-schema", ...dialectNames] as const;

export type SchemaFormat = (typeof schemaFormats)[number];

export interface SchemaTextOptions {
  /** The input's column names, unchanged. */
  readonly inputColumns: readonly string[];
  /** Prefix of the added columns' names, e.g. `rep_`. */
  readonly prefix: string;
  /** The optional columns of the rows. @default none */
  readonly optional?: OptionalColumns;
  /**
   * `table` or `schema.table`; also `project.dataset.table` for BigQuery. Ignored for json-schema.
   */
  readonly table: string;
}

/**
 * Describes the enriched table: SQL statements for a database, or a JSON Schema for rows of NDJSON
 * output. Ends with a line feed.
 * @throws UsageError `column_clash`, `bad_table`, `name_too_long`, `too_many_columns`
 */
export function schemaText(format: SchemaFormat, options: SchemaTextOptions): string {
  if (format === "json-schema") return `${JSON.stringify(jsonSchema(options), null, 2)}\n`;
  const table = tableOf(format, options.table);
  const schema = tableSchema(format, options);
  if (schema.columns.length > maxColumns[format]) {
    throw new UsageError(
      "too_many_columns",
      `the table would have ${schema.columns.length} columns; ${format} allows ${maxColumns[format]}`,
      { hint: "remove columns from the input" },
    );
  }
  const newest = createNewestView(format, table, schema);
  const hasAll = options.optional?.only === undefined;
  const changes =
    format === "bigquery" || !hasAll ? null : createChangesView(format, table, schema);
  const statements = [createTable(format, table, schema), newest, changes];
  return `${statements.filter((statement) => statement !== null).join("\n\n")}\n`;
}

/**
 * CREATE VIEW of each item's newest row: the one with the latest answer, with a stable choice among
 * rows that share an answer. Rows without an item are excluded. Null for a table without the columns
 * that tell them.
 * @param create CREATE OR REPLACE for a table with new columns, which an existing view lacks
 */
export function createNewestView(
  dialect: DialectName,
  table: TableName,
  { prefix, rowKey, columns }: ViewedTable,
  create = "CREATE VIEW",
): string | null {
  const needed = ["kind", "item", "looked_up_at"].map((name) => prefix + name);
  if (!needed.every((wanted) => columns.some(({ name }) => name === wanted))) return null;
  const quote = (name: string): string => quoteIdentifier(dialect, name);
  const item = `${quote(`${prefix}kind`)}, ${quote(`${prefix}item`)}`;
  const order = `${quote(`${prefix}looked_up_at`)} DESC NULLS LAST, ${quote(rowKey[0])} DESC, ${quote(rowKey[1])} DESC`;
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

type ViewedTable = Pick<TableSchema, "prefix" | "rowKey"> & {
  readonly columns: readonly { readonly name: string }[];
};

/** Name of the view beside a table. */
export function newestViewName(table: string): string {
  return table + newestViewSuffix;
}

/**
 * PostgreSQL manual, appendix K; BigQuery, Quotas and limits, Tables. DuckDB documents no limit.
 */
const maxColumns: Readonly<Record<DialectName, number>> = {
  postgres: 1_600,
  duckdb: Number.POSITIVE_INFINITY,
  bigquery: 10_000,
};

function tableOf(dialect: DialectName, text: string): TableName {
  if (dialect === "postgres") return parsePostgresTable(text);
  const dot = text.lastIndexOf(".");
  // BigQuery datasets include their project: `project.dataset` is one quoted path.
  if (dialect !== "bigquery" || dot === text.indexOf(".")) return parseTableName(text);
  return { schema: text.slice(0, dot), name: parseTableName(text.slice(dot + 1)).name };
}
