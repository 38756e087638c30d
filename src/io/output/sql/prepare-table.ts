import type { TypedColumn } from "../../formats/typed-column.js";
import { UsageError } from "../../../core/errors.js";
import {
  addColumns,
  catalogueType,
  createTable,
  type Dialect,
  quoteIdentifier,
  quoteTable,
  type TableName,
  tableText,
} from "./dialect.js";
import type { FoundColumn, TableSession } from "./table-database.js";
import type { TableColumn, TableSchema } from "../typed/table-schema.js";
import { viewsOf } from "./views.js";

/**
 * Creates or checks the table. A new one also gets its views. Existing tables are never altered.
 * @returns the table with its schema, and what the rows become in it
 */
export async function prepareTable(
  session: TableSession,
  wanted: TableName,
  schema: TableSchema,
): Promise<{ readonly table: TableName; readonly schema: TableSchema }> {
  const found = await findChecked(session, wanted, schema);
  if (found === null) return { table: await createNew(session, wanted, schema), schema };
  return { table: found.table, schema: { ...schema, columns: found.columns } };
}

interface WantedTable<C> {
  readonly columns: readonly C[];
  readonly key: readonly string[];
}

/**
 * Finds a table that can store rows.
 *
 * @returns it with its columns, as far as it has them; null if it has to be created
 * @throws UsageError `table_*`, `not_a_table`
 */
export async function findChecked<C extends TypedColumn & Partial<Pick<TableColumn, "from">>>(
  session: TableSession,
  wanted: TableName,
  schema: WantedTable<C>,
): Promise<{ readonly table: TableName; readonly columns: readonly C[] } | null> {
  const { dialect } = session;
  const table = await findOrLock(session, wanted);
  if (table === null) return null;
  const found = await session.columnsOf(table);
  const columns = fittedTo(dialect, schema.columns, found);
  checkTable(dialect, table, { ...schema, columns }, found);
  if (!(await session.hasKey(table, schema.key))) throw keyMissing(dialect, table, schema.key);
  mustBeFilled(dialect, table, columns, found);
  return { table, columns };
}

async function createNew(
  session: TableSession,
  wanted: TableName,
  schema: TableSchema,
): Promise<TableName> {
  const { dialect } = session;
  await session.query(createTable(dialect, wanted, schema));
  const table = (await session.find(wanted)) ?? wanted;
  for (const { view, create } of viewsOf(dialect, table, schema)) {
    // An existing object of the view's name is left alone.
    if ((await session.find(view)) === null) await session.query(create);
  }
  return table;
}

/** Finds a table. If there is none, two runs that start together do not both create it. */
async function findOrLock(session: TableSession, wanted: TableName): Promise<TableName | null> {
  let found = await session.find(wanted);
  if (found === null) {
    await session.lock?.("tables");
    found = await session.find(wanted);
  }
  if (found === null || found.notTable === null) return found;
  throw new UsageError("not_a_table", `${tableText(found)} ${found.notTable}`, {
    hint: "name another table",
  });
}

/** The same columns, but text for input columns that the table has as text. */
function fittedTo<C extends Partial<Pick<TableColumn, "from">> & TypedColumn>(
  dialect: Dialect,
  columns: readonly C[],
  found: readonly FoundColumn[],
): readonly C[] {
  const key = keyOf(dialect);
  const isText = ({ type }: FoundColumn): boolean =>
    type.toLowerCase() === catalogueType(dialect, "text").toLowerCase();
  const texts = new Set(found.filter(isText).map(({ name }) => key(name)));
  return columns.map((column) =>
    column.from?.kind === "input" && texts.has(key(column.name))
      ? { ...column, type: "text" }
      : column,
  );
}

/** Returns what tells names apart. */
function keyOf({ isCaseSensitive }: Dialect): (name: string) => string {
  return (name) => (isCaseSensitive ? name : name.toLowerCase());
}

/**
 * Checks that an existing table can store the rows. Additional columns and any column order are
 * allowed.
 */
export function checkTable(
  dialect: Dialect,
  table: TableName,
  schema: { readonly columns: readonly TypedColumn[] } | TableSchema,
  found: readonly FoundColumn[],
): void {
  const key = keyOf(dialect);
  const types = new Map(found.map(({ name, type }) => [key(name), type]));

  const missing = schema.columns.filter(({ name }) => !types.has(key(name)));
  if (missing.length > 0) {
    const views = "mode" in schema ? refreshedViews(dialect, table, schema, found) : [];
    const statements = [...addColumns(dialect, table, missing), ...views];
    throw new UsageError(
      "table_lacks_columns",
      `the table ${tableText(table)} lacks ${named(missing)}`,
      { hint: `add the missing columns, or name another table:\n${statements.join("\n")}` },
    );
  }
  const pairs = schema.columns.flatMap(({ name, type }) => {
    const actual = types.get(key(name));
    const wanted = catalogueType(dialect, type);
    const same = actual?.toLowerCase() === wanted.toLowerCase();
    return same ? [] : [`${name} is ${actual} but must be ${wanted}`];
  });
  if (pairs.length > 0) {
    throw new UsageError(
      "table_types_differ",
      `the table ${tableText(table)} has columns of the wrong type: ${pairs.join("; ")}`,
      { hint: "change their types, or name another table" },
    );
  }
}

/** Checks that the rows fill all columns that a row has to fill. */
function mustBeFilled(
  dialect: Dialect,
  table: TableName,
  columns: readonly TypedColumn[],
  found: readonly FoundColumn[],
): void {
  const key = keyOf(dialect);
  const filled = new Set(columns.map(({ name }) => key(name)));
  const needed = found.filter(({ name, isRequired }) => isRequired && !filled.has(key(name)));
  if (needed.length === 0) return;
  const change = needed.map(
    ({ name }) =>
      `ALTER TABLE ${quoteTable(dialect, table)} ALTER COLUMN ${quoteIdentifier(dialect, name)} DROP NOT NULL;`,
  );
  throw new UsageError(
    "table_needs_column",
    `the table ${tableText(table)} needs a value for ${named(needed)}, which the rows lack`,
    { hint: `give it a default or let it be null, or name another table:\n${change.join("\n")}` },
  );
}

/** Replaces the view that would lack new columns. */
function refreshedViews(
  dialect: Dialect,
  table: TableName,
  schema: TableSchema,
  found: readonly FoundColumn[],
): readonly string[] {
  const columns = [...schema.columns, ...found];
  return viewsOf(dialect, table, { ...schema, columns })
    .filter(({ showsAll }) => showsAll)
    .map(({ create }) => create.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"));
}

function named(columns: readonly { readonly name: string }[]): string {
  const names = columns.map(({ name }) => name);
  return `${names.length === 1 ? "the column" : `${names.length} columns:`} ${names.join(", ")}`;
}

function keyMissing(dialect: Dialect, table: TableName, key: readonly string[]): UsageError {
  const names = key.map((name) => quoteIdentifier(dialect, name)).join(", ");
  return new UsageError(
    "table_lacks_key",
    `the table ${tableText(table)} has no primary key on ${key.join(" and ")}`,
    {
      hint: `if it was made with another --mode or --key, use these; else add the key, or name another table:\nALTER TABLE ${quoteTable(dialect, table)} ADD PRIMARY KEY (${names});`,
    },
  );
}
