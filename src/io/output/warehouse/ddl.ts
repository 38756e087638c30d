import { UsageError } from "../../../core/errors.js";
import {
  createTable,
  type DialectName,
  dialectNames,
  parsePostgresTable,
  parseTableName,
  type TableName,
} from "../sql/dialect.js";
import { createRunsTable } from "./run-records.js";
import { jsonSchema } from "./json-schema.js";
import { tableSchema, type TableSchemaOptions } from "../sql/table-schema.js";
import { viewsOf } from "../sql/views.js";

export const schemaFormats = ["json-schema", ...dialectNames] as const;

export type SchemaFormat = (typeof schemaFormats)[number];

export interface SchemaTextOptions extends TableSchemaOptions {
  /**
   * `table` or `schema.table`; also `project.dataset.table` for BigQuery. Ignored for json-schema.
   */
  readonly table: string;
}

/**
 * Describes the enriched table: SQL statements for a database, or a JSON Schema for rows of NDJSON
 * output. Ends with a line feed.
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
  const views = viewsOf(format, table, schema).map(
    ({ about, create }) => `${about.map((line) => `-- ${line}\n`).join("")}${create}`,
  );
  const statements = [createTable(format, table, schema), createRunsTable(format, table), ...views];
  return `${statements.join("\n\n")}\n`;
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
