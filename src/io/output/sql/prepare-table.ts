import { isDeepStrictEqual } from "node:util";
import { FatalError, UsageError } from "../../../core/errors.js";
import { mixedData } from "../publisher.js";
import { type TableData, countedVerdicts, findingStatuses } from "../../../core/finding.js";
import { madeUpOf, type Manifest } from "../../../core/manifest.js";
import type { TypedColumn } from "../../formats/column-types.js";
import type { TableColumn, TableSchema } from "../typed/table-schema.js";
import {
  type Dialect,
  type FoundColumn,
  quoteTable,
  runsTable,
  type SchemaDialect,
  sqlType,
  type TableSession,
  type TableName,
  tableText,
} from "./dialect.js";
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
  if (found !== null) {
    return { table: found.table, schema: { ...schema, columns: found.columns } };
  }
  const { dialect } = session;
  await session.query(createTable(dialect, wanted, schema));
  const table = (await session.find(wanted)) ?? wanted;
  // A view reads it.
  await prepareRuns(session, table);
  for (const { view, create } of viewsOf(dialect, table, schema)) {
    // An existing object of the view's name is left alone.
    if ((await session.find(view)) === null) await session.query(create);
  }
  return { table, schema };
}

function columnDefinition(dialect: SchemaDialect, column: TypedColumn): string {
  const definition = `${dialect.quote(column.name)} ${sqlType(dialect, column.type)}`;
  return column.nullable ? definition : `${definition} NOT NULL`;
}

/** CREATE TABLE IF NOT EXISTS with the primary key. */
export function createTable(
  dialect: SchemaDialect,
  table: TableName,
  { columns, key }: { readonly columns: readonly TypedColumn[]; readonly key: readonly string[] },
): string {
  const names = key.map((name) => dialect.quote(name)).join(", ");
  const lines = columns.map((column) => columnDefinition(dialect, column));
  lines.push(dialect.primaryKey(names));
  return `CREATE TABLE IF NOT EXISTS ${quoteTable(dialect, table)} (\n  ${lines.join(",\n  ")}\n);`;
}

type WantedColumn = TypedColumn & Partial<Pick<TableColumn, "from">>;

interface WantedTable<C extends WantedColumn> extends Partial<
  Pick<TableSchema, "prefix" | "mode">
> {
  readonly columns: readonly C[];
  readonly key: readonly string[];
}

/**
 * Finds a table that can store rows.
 *
 * @returns it with its columns, as far as it has them; null if it has to be created
 * @throws UsageError `table_*`, `not_a_table`
 */
async function findChecked<C extends WantedColumn>(
  session: TableSession,
  wanted: TableName,
  schema: WantedTable<C>,
): Promise<{ readonly table: TableName; readonly columns: readonly C[] } | null> {
  const { dialect } = session;
  let table = await session.find(wanted);
  if (table === null) {
    // Two runs that start together do not both create it.
    await session.lock?.("tables");
    table = await session.find(wanted);
  }
  if (table === null) return null;
  const name = tableText(table);
  if (table.notTable !== null) {
    throw new UsageError("not_a_table", `${name} ${table.notTable}`, {
      hint: "name another table",
    });
  }
  const { columns: found, keys } = await session.factsOf(table);
  const columns = checkTable(dialect, table, schema, found);
  const alter = `ALTER TABLE ${quoteTable(dialect, table)}`;
  const { quote: quoted } = dialect;
  const { key } = schema;
  const setOf = (names: readonly string[]) =>
    new Set(names.map((name) => keyOf(dialect, { name })));
  if (!keys.some((names) => isDeepStrictEqual(setOf(names), setOf(key)))) {
    const message = `the table ${name} has no primary key on ${key.join(" and ")}`;
    throw new UsageError("table_lacks_key", message, {
      hint: `if it was made with another --mode or --key, use these; else add the key, or name another table:\n${alter} ADD PRIMARY KEY (${key.map(quoted).join(", ")});`,
    });
  }
  const filled = new Set(columns.map((column) => keyOf(dialect, column)));
  const needed = found.filter((each) => each.isRequired && !filled.has(keyOf(dialect, each)));
  if (needed.length > 0) {
    const message = `the table ${name} needs a value for ${listed(needed)}, which the rows lack`;
    const change = needed.map(
      (each) => `${alter} ALTER COLUMN ${quoted(each.name)} DROP NOT NULL;`,
    );
    throw new UsageError("table_needs_column", message, {
      hint: `give it a default or let it be null, or name another table:\n${change.join("\n")}`,
    });
  }
  return { table, columns };
}

/** What tells columns apart. */
function keyOf({ isCaseSensitive }: Dialect, { name }: { readonly name: string }): string {
  return isCaseSensitive ? name : name.toLowerCase();
}

/** The name of a type in the database's catalogue, in lower case. */
function nameOf(dialect: Dialect, type: TypedColumn["type"]): string {
  const name = sqlType(dialect, type);
  return (dialect.catalogue[name] ?? name).toLowerCase();
}

/**
 * Checks that an existing table can store the rows. Additional columns and any column order are
 * allowed.
 *
 * @returns what the columns are in it: those of the input become text where it has text
 */
export function checkTable<C extends WantedColumn>(
  dialect: Dialect,
  table: TableName,
  { columns, key, prefix, mode }: WantedTable<C>,
  found: readonly FoundColumn[],
): readonly C[] {
  const types = new Map(found.map((column) => [keyOf(dialect, column), column.type.toLowerCase()]));
  const missing = columns.filter((column) => !types.has(keyOf(dialect, column)));
  if (missing.length > 0) {
    // Added columns are nullable, because existing rows have no value for them.
    const added = missing.map(
      (column) =>
        `ALTER TABLE ${quoteTable(dialect, table)} ADD COLUMN ${columnDefinition(dialect, { ...column, nullable: true })};`,
    );
    const all = [...columns, ...found];
    const views =
      prefix === undefined || mode === undefined
        ? []
        : viewsOf(dialect, table, { columns: all, key, prefix, mode })
            .filter(({ showsAll }) => showsAll)
            .map(({ create }) => create.replace("CREATE VIEW", "CREATE OR REPLACE VIEW"));
    const message = `the table ${tableText(table)} lacks ${listed(missing)}`;
    throw new UsageError("table_lacks_columns", message, {
      hint: `add the missing columns, or name another table:\n${[...added, ...views].join("\n")}`,
    });
  }
  const text = nameOf(dialect, "text");
  const stored = columns.map((column) =>
    column.from?.kind === "input" && types.get(keyOf(dialect, column)) === text
      ? { ...column, type: "text" as const }
      : column,
  );
  const wrong = stored.flatMap((column) => {
    const [actual, wanted] = [types.get(keyOf(dialect, column)), nameOf(dialect, column.type)];
    return actual === wanted ? [] : [`${column.name} is ${actual} but must be ${wanted}`];
  });
  if (wrong.length > 0) {
    const message = `the table ${tableText(table)} has columns of the wrong type: ${wrong.join("; ")}`;
    throw new UsageError("table_types_differ", message, {
      hint: "change their types, or name another table",
    });
  }
  return stored;
}

function listed(columns: readonly { readonly name: string }[]): string {
  const names = columns.map(({ name }) => name);
  return `${names.length === 1 ? "the column" : `${names.length} columns:`} ${names.join(", ")}`;
}

interface RunColumn extends TypedColumn {
  readonly value: (manifest: Manifest) => string | number | null;
}

const loadedAt = "loaded_at";

/** One row per run: the manifest, and what queries ask for most. */
const runColumns: readonly RunColumn[] = [
  { name: "run_id", type: "text", nullable: false, value: ({ run_id }) => run_id },
  runColumn("started_at", "timestamp", ({ started_at }) => started_at),
  runColumn("ended_at", "timestamp", ({ ended_at }) => ended_at),
  runColumn(loadedAt, "timestamp", () => null),
  // Null for a stream.
  runColumn("input", "text", ({ input, inputs }) =>
    inputs === undefined ? input.path : inputs.map(({ path }) => path).join(", "),
  ),
  runColumn("rows", "count", ({ input }) => input.rows),
  ...findingStatuses.map((name) => runColumn(name, "count", ({ statuses }) => statuses[name])),
  ...countedVerdicts.map((name) => runColumn(name, "count", ({ verdicts }) => verdicts[name])),
  runColumn("exit_reason", "text", ({ exit_reason }) => exit_reason),
  runColumn("manifest", "json", (manifest) =>
    JSON.stringify(manifest).replace(unstorable, "$1\\ufffd"),
  ),
];

/** U+0000 and lone surrogates, which `jsonb` refuses (PostgreSQL manual, section 8.14). */
const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

function runColumn(name: string, type: TypedColumn["type"], value: RunColumn["value"]): RunColumn {
  return { name, type, nullable: true, value };
}

const runs = { columns: runColumns, key: ["run_id"] };

export function createRunsTable(dialect: SchemaDialect, table: TableName): string {
  return createTable(dialect, runsTable(table), runs);
}

/** Creates the table of runs, or checks it, and that a run may be recorded in it. */
export async function prepareRuns(session: TableSession, table: TableName): Promise<void> {
  const { dialect } = session;
  if ((await findChecked(session, runsTable(table), runs)) === null) {
    await session.query(createRunsTable(dialect, table));
    return;
  }
  // Without rows, shows whether it may.
  const names = runColumns.map(({ name }) => dialect.quote(name)).join(", ");
  const from = quoteTable(dialect, runsTable(table));
  await session.query(insertRuns(dialect, table, `SELECT ${names} FROM ${from} WHERE FALSE`));
}

/**
 * Records a run, or what has become of it since it was recorded.
 *
 * @param run.name of the table in messages
 * @param run.at time of publishing, in milliseconds
 * @param run.holds whose answers the table holds
 */
export async function recordRun(
  { dialect, query }: TableSession,
  table: TableName,
  manifest: Manifest,
  { name: shown, at, holds }: { name: string; at: number; holds: TableData | null },
): Promise<void> {
  const ours = dataOf(manifest);
  if (holds !== null && ours !== null && holds !== ours) throw mixedData(FatalError, shown, holds);
  const places = runColumns.map((_, index) => dialect.parameter(index + 1));
  const values = runColumns.map(({ name, value }) =>
    name === loadedAt ? new Date(at).toISOString() : value(manifest),
  );
  await query(insertRuns(dialect, table, `VALUES (${places.join(", ")})`), values);
}

function insertRuns(dialect: Dialect, table: TableName, rows: string): string {
  const names = runColumns.map(({ name }) => dialect.quote(name));
  const [id = "", ...others] = names;
  const insert = `INSERT INTO ${quoteTable(dialect, runsTable(table))} (${names.join(", ")}) ${rows}`;
  return dialect.replaceStored(insert, id, others);
}

/** What the newest runs say: rows of those that ended well, to the last whole one; whose answers there are. */
export async function earlierRuns({ dialect, query }: TableSession, table: TableName) {
  const [manifest, id] = ["manifest", "run_id"].map((name) => dialect.quote(name));
  const found = await query(
    `SELECT CAST(${manifest} AS TEXT) FROM ${quoteTable(dialect, runsTable(table))}
     ORDER BY ${id} DESC LIMIT 100`,
  );
  const newest = found.map(([text]) => JSON.parse(String(text)) as Partial<Manifest>);
  const well = newest.filter(({ exit_reason: end }) => end === "done" || end === "rows_failed");
  // One with --limit only says how many rows there were at least.
  const whole = well.findIndex(({ sampled }) => sampled === undefined);
  const latest = (whole < 0 ? well : well.slice(0, whole + 1)).map(({ input }) => input?.rows ?? 0);
  const holds = newest.map(dataOf).find((data) => data !== null) ?? null;
  return { rows: latest.length > 0 ? Math.max(...latest) : null, holds };
}

/** Whose answers a run has; null if it has none. */
function dataOf(manifest: Partial<Manifest>): TableData | null {
  if (madeUpOf(manifest) !== undefined) return "made up";
  const { live = 0, cache = 0, duplicate = 0 } = manifest.sources ?? {};
  return live + cache + duplicate > 0 ? "real" : null;
}
