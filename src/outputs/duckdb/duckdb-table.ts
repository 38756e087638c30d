import { UsageError } from "../../core/errors.js";
import { checkTable, type CatalogueTypes } from "../warehouse/check-table.js";
import { createEnrichedTable, createNewestView, newestViewName } from "../warehouse/ddl.js";
import {
  createCheckpointTable,
  quoteIdentifier,
  type TableName,
  tableText,
} from "../warehouse/dialect.js";
import type { TableSchema } from "../warehouse/table-schema.js";
import type { DuckdbDatabase } from "./duckdb-database.js";

/** As `duckdb_columns()` calls them. */
const catalogueTypes: CatalogueTypes = {
  text: "VARCHAR",
  boolean: "BOOLEAN",
  count: "BIGINT",
  timestamp: "TIMESTAMP WITH TIME ZONE",
  "text[]": "VARCHAR[]",
};

/**
 * Makes sure that the table and the checkpoint table beside it are there and can take the rows. A
 * table that is made gets the view of the newest rows. What is there already is never altered.
 *
 * @returns the names of the table's columns, in its order
 * @throws UsageError `schema_missing`, `not_a_table`, `table_lacks_columns`, `table_types_differ`
 */
export async function prepareTable(
  database: DuckdbDatabase,
  table: TableName,
  schema: TableSchema,
): Promise<readonly string[]> {
  const place = table.schema ?? "main";
  const schemas = await database.run(
    "SELECT 1 FROM duckdb_schemas() WHERE database_name = current_database() AND lower(schema_name) = lower(?)",
    [place],
  );
  if (schemas.length === 0) {
    throw new UsageError("schema_missing", `there is no schema ${place} for ${tableText(table)}`, {
      hint: `create it first: CREATE SCHEMA ${quoteIdentifier("duckdb", place)};`,
    });
  }
  if (await hasView(database, table)) {
    throw new UsageError("not_a_table", `${tableText(table)} is a view`, {
      hint: "name another table",
    });
  }
  const found = (await hasTable(database, table)) ? await columnsOf(database, table) : null;
  if (found !== null) checkTable("duckdb", table, schema, found, catalogueTypes);
  await database.transaction(async () => {
    if (found === null) await createTables(database, table, schema);
    await database.run(createCheckpointTable("duckdb", table.schema));
  });
  return (found ?? schema.columns).map(({ name }) => name);
}

async function createTables(
  database: DuckdbDatabase,
  table: TableName,
  schema: TableSchema,
): Promise<void> {
  await database.run(createEnrichedTable("duckdb", table, schema));
  const view = { ...table, name: newestViewName(table.name) };
  // Something of the view's name is left alone.
  if ((await hasView(database, view)) || (await hasTable(database, view))) return;
  await database.run(createNewestView("duckdb", table, schema));
}

/** True when the file has such a table. */
export async function hasTable(database: DuckdbDatabase, table: TableName): Promise<boolean> {
  return isThere(database, "duckdb_tables()", "table_name", table);
}

async function hasView(database: DuckdbDatabase, view: TableName): Promise<boolean> {
  return isThere(database, "duckdb_views()", "view_name", view);
}

async function isThere(
  database: DuckdbDatabase,
  catalogue: string,
  column: string,
  { schema, name }: TableName,
): Promise<boolean> {
  const rows = await database.run(
    `SELECT 1 FROM ${catalogue} WHERE database_name = current_database()
     AND lower(schema_name) = lower(?) AND lower(${column}) = lower(?)`,
    [schema ?? "main", name],
  );
  return rows.length > 0;
}

async function columnsOf(
  database: DuckdbDatabase,
  { schema, name }: TableName,
): Promise<{ name: string; type: string }[]> {
  const rows = await database.run(
    `SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database()
     AND lower(schema_name) = lower(?) AND lower(table_name) = lower(?) ORDER BY column_index`,
    [schema ?? "main", name],
  );
  return rows.map(([column, type]) => ({ name: String(column), type: String(type) }));
}
