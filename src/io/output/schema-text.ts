import { UsageError } from "../../core/errors.js";
import { jsonSchema } from "./typed/json-schema.js";
import { dialects } from "./registry.js";
import { createTable } from "./sql/dialect.js";
import { createRunsTable } from "./sql/prepare-table.js";
import { viewsOf } from "./sql/views.js";
import { tableSchema, type TableSchemaOptions } from "./typed/table-schema.js";

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
export function schemaText(format: string, options: SchemaTextOptions): string {
  const dialect = dialects.find(({ name }) => name === format);
  if (dialect === undefined) return `${JSON.stringify(jsonSchema(options), null, 2)}\n`;
  const { maxColumns } = dialect;
  const table = dialect.parseTable(options.table);
  const schema = tableSchema(dialect.rules, options);
  if (schema.columns.length > maxColumns) {
    throw new UsageError(
      "too_many_columns",
      `the table would have ${schema.columns.length} columns; ${format} allows ${maxColumns}`,
      { hint: "remove columns from the input" },
    );
  }
  const views = viewsOf(dialect, table, schema).map(
    ({ about, create }) => `${about.map((line) => `-- ${line}\n`).join("")}${create}`,
  );
  const statements = [
    createTable(dialect, table, schema),
    createRunsTable(dialect, table),
    ...views,
  ];
  return `${statements.join("\n\n")}\n`;
}
