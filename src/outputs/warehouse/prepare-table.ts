import { UsageError } from "../../core/errors.js";
import { createNewestView, newestViewName } from "./ddl.js";
import {
  addColumns,
  catalogueType,
  checkpointTableName,
  createCheckpointTable,
  createTable,
  type DialectName,
  quoteIdentifier,
  quoteTable,
  type SqlColumn,
  type TableName,
  tableText,
} from "./dialect.js";
import type { TableSession } from "./table-database.js";
import type { TableSchema } from "./table-schema.js";

/** A column as a database's catalogue tells it. */
export interface FoundColumn {
  readonly name: string;
  /** Name of the type in the catalogue's own words. */
  readonly type: string;
}

/**
 * Makes sure that the table and the checkpoint table beside it are there and can take the rows. A
 * table that is made gets the view of the newest rows. What is there already is never altered.
 *
 * @returns the table with the schema that it is in
 * @throws UsageError `schema_missing`, `not_a_table`, `table_lacks_columns`, `table_types_differ`,
 * `table_lacks_key`; what the database throws
 */
export async function prepareTable(
  dialect: DialectName,
  session: TableSession,
  wanted: TableName,
  schema: TableSchema,
): Promise<TableName> {
  // Two runs that start together would make the same tables.
  await session.lock("tables");
  const found = await session.find(wanted);
  const place = found === null ? await session.schemaFor(wanted) : found.schema;
  if (place === undefined) throw schemaMissing(dialect, wanted);
  const table = { ...wanted, schema: place };
  if (found === null) {
    await session.query(createTable(dialect, table, schema));
    const view = { ...table, name: newestViewName(table.name) };
    // Something of the view's name is left alone.
    if ((await session.find(view)) === null) {
      await session.query(createNewestView(dialect, table, schema));
    }
  } else {
    if (found.instead !== null) {
      throw new UsageError("not_a_table", `${tableText(table)} ${found.instead}`, {
        hint: "name another table",
      });
    }
    checkTable(dialect, table, schema, await session.columnsOf(table));
    if (!(await session.hasKey(table, schema.key))) throw keyMissing(dialect, table, schema.key);
  }
  if ((await session.find({ ...table, name: checkpointTableName })) === null) {
    await session.query(createCheckpointTable(dialect, table.schema));
  }
  return table;
}

/**
 * Makes sure that a table which is there already can take the rows. Columns of its own are left
 * alone, in whatever order they are.
 *
 * @throws UsageError `table_lacks_columns` with the statements that add them and make the
 * view of the newest rows see them, `table_types_differ`
 */
export function checkTable(
  dialect: DialectName,
  table: TableName,
  schema: Pick<TableSchema, "key" | "prefix"> & { readonly columns: readonly SqlColumn[] },
  found: readonly FoundColumn[],
): void {
  // PostgreSQL tells quoted names apart by case (4.1.1); DuckDB and BigQuery do not.
  const key = (name: string): string => (dialect === "postgres" ? name : name.toLowerCase());
  const types = new Map(found.map(({ name, type }) => [key(name), type]));

  const lacking = schema.columns.filter(({ name }) => !types.has(key(name)));
  if (lacking.length > 0) {
    const statements = [
      ...addColumns(dialect, table, lacking),
      createNewestView(dialect, table, schema, "CREATE OR REPLACE VIEW"),
    ];
    throw new UsageError(
      "table_lacks_columns",
      `the table ${tableText(table)} lacks ${named(lacking)}`,
      { hint: `add what is lacking, or name another table:\n${statements.join("\n")}` },
    );
  }
  const pairs = schema.columns.flatMap(({ name, type }) => {
    const is = types.get(key(name));
    const wanted = catalogueType(dialect, type);
    const same = is?.toLowerCase() === wanted.toLowerCase();
    return same ? [] : [`${name} is ${is} and must be ${wanted}`];
  });
  if (pairs.length > 0) {
    throw new UsageError(
      "table_types_differ",
      `the table ${tableText(table)} has columns of other types: ${pairs.join("; ")}`,
      { hint: "change their types, or name another table" },
    );
  }
}

function named(columns: readonly SqlColumn[]): string {
  const names = columns.map(({ name }) => name);
  return `${names.length === 1 ? "the column" : `${names.length} columns:`} ${names.join(", ")}`;
}

function schemaMissing(dialect: DialectName, { schema, name }: TableName): UsageError {
  return schema === null
    ? new UsageError(
        "schema_missing",
        `there is no schema for the table ${name} in the search path`,
        { hint: "name one: table=SCHEMA.NAME" },
      )
    : new UsageError(
        "schema_missing",
        `there is no schema ${schema} for ${tableText({ schema, name })}`,
        { hint: `create it first: CREATE SCHEMA ${quoteIdentifier(dialect, schema)};` },
      );
}

function keyMissing(dialect: DialectName, table: TableName, key: readonly string[]): UsageError {
  const names = key.map((name) => quoteIdentifier(dialect, name)).join(", ");
  return new UsageError(
    "table_lacks_key",
    `the table ${tableText(table)} has no key of ${key.join(" and ")}`,
    {
      hint: `add it, or name another table:\nALTER TABLE ${quoteTable(dialect, table)} ADD PRIMARY KEY (${names});`,
    },
  );
}
