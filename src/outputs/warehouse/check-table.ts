import type { ColumnType } from "../../core/columns.js";
import { UsageError } from "../../core/errors.js";
import { replaceNewestView } from "./ddl.js";
import { addColumns } from "./dialect.js";
import type { DialectName, SqlColumn, TableName } from "./dialect.js";
import { tableText } from "./dialect.js";
import type { TableSchema } from "./table-schema.js";

/** A column as a database's catalogue tells it. */
export interface FoundColumn {
  readonly name: string;
  /** Name of the type in the catalogue's own words. */
  readonly type: string;
}

/** How the catalogue calls the types of our columns. */
export type CatalogueTypes = Readonly<Record<ColumnType, string>>;

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
  catalogueTypes: CatalogueTypes,
): void {
  // PostgreSQL tells quoted names apart by case (4.1.1); DuckDB and BigQuery do not.
  const key = (name: string): string => (dialect === "postgres" ? name : name.toLowerCase());
  const types = new Map(found.map(({ name, type }) => [key(name), type]));

  const lacking = schema.columns.filter(({ name }) => !types.has(key(name)));
  if (lacking.length > 0) {
    const statements = [
      ...addColumns(dialect, table, lacking),
      replaceNewestView(dialect, table, schema),
    ];
    throw new UsageError(
      "table_lacks_columns",
      `the table ${tableText(table)} lacks ${named(lacking)}`,
      { hint: `add what is lacking, or name another table:\n${statements.join("\n")}` },
    );
  }
  const differing = schema.columns.filter(
    ({ name, type }) => types.get(key(name))?.toLowerCase() !== catalogueTypes[type].toLowerCase(),
  );
  if (differing.length > 0) {
    const pairs = differing.map(
      ({ name, type }) => `${name} is ${types.get(key(name))} and must be ${catalogueTypes[type]}`,
    );
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
