import { type TableData, countedVerdicts, findingStatuses } from "../../../core/finding.js";
import { madeUpOf, type Manifest } from "../../../core/manifest.js";
import type { TypedColumn } from "../../formats/typed-column.js";
import {
  createTable,
  type Dialect,
  quoteIdentifier,
  quoteTable,
  type SchemaDialect,
  type TableName,
} from "./dialect.js";
import { findChecked } from "./prepare-table.js";
import type { TableSession } from "./table-database.js";

function runsTable({ schema, name }: TableName): TableName {
  return { schema, name: `${name}_runs` };
}

interface RunColumn extends TypedColumn {
  readonly value: (manifest: Manifest) => string | number | null;
}

const loadedAt = "loaded_at";

/** One row per run: the manifest, and what queries ask for most. */
const runColumns: readonly RunColumn[] = [
  { name: "run_id", type: "text", nullable: false, value: ({ run_id }) => run_id },
  column("started_at", "timestamp", ({ started_at }) => started_at),
  column("ended_at", "timestamp", ({ ended_at }) => ended_at),
  column(loadedAt, "timestamp", () => null),
  column("input", "text", ({ input, inputs }) => inputNames(input.path, inputs)),
  column("rows", "count", ({ input }) => input.rows),
  ...findingStatuses.map((status) => column(status, "count", ({ statuses }) => statuses[status])),
  ...countedVerdicts.map((verdict) =>
    column(verdict, "count", ({ verdicts }) => verdicts[verdict]),
  ),
  column("exit_reason", "text", ({ exit_reason }) => exit_reason),
  column("manifest", "json", storedJson),
];

const key = ["run_id"] as const;

export function createRunsTable(dialect: SchemaDialect, table: TableName): string {
  return createTable(dialect, runsTable(table), { columns: runColumns, key });
}

/**
 * Creates the table of runs, or checks it, and that a run may be recorded in it.
 *
 * @returns its name
 */
export async function prepareRuns(session: TableSession, table: TableName): Promise<TableName> {
  const { dialect } = session;
  const runs = runsTable(table);
  if ((await findChecked(session, runs, { columns: runColumns, key })) === null) {
    await session.query(createRunsTable(dialect, table));
    return runs;
  }
  // Without rows, shows whether it may.
  const selected = `SELECT ${names(dialect).join(", ")} FROM ${quoteTable(dialect, runs)} WHERE FALSE`;
  await session.query(insertInto(dialect, runs, selected));
  return runs;
}

/**
 * Records a run, or what has become of it since it was recorded.
 *
 * @param now time of publishing, in milliseconds
 */
export async function recordRun(
  { dialect, query }: TableSession,
  runs: TableName,
  { manifest, now }: { readonly manifest: Manifest; readonly now: number },
): Promise<void> {
  const places = runColumns.map((_, index) => dialect.parameter(index + 1));
  await query(
    insertInto(dialect, runs, `VALUES (${places.join(", ")})`),
    runColumns.map(({ name, value }) =>
      name === loadedAt ? new Date(now).toISOString() : value(manifest),
    ),
  );
}

/** Rows of the newest run that ended well; null without one. */
export async function lastRunRows(
  { dialect, query }: TableSession,
  runs: TableName,
): Promise<number | null> {
  const quoted = (name: string): string => quoteIdentifier(dialect, name);
  const [found] = await query(
    `SELECT ${quoted("rows")} FROM ${quoteTable(dialect, runs)}
     WHERE ${quoted("exit_reason")} IN ('done', 'rows_failed')
     ORDER BY ${quoted("run_id")} DESC LIMIT 1`,
  );
  return found === undefined ? null : Number(found[0]);
}

/** What the newest runs say of the answers in their table; null if there are none. */
export async function tableData(
  { dialect, query }: TableSession,
  runs: TableName,
): Promise<TableData | null> {
  const quoted = (name: string): string => quoteIdentifier(dialect, name);
  const found = await query(
    `SELECT CAST(${quoted("manifest")} AS TEXT) FROM ${quoteTable(dialect, runs)}
     ORDER BY ${quoted("run_id")} DESC LIMIT 20`,
  );
  for (const [text] of found) {
    const data = dataOf(JSON.parse(String(text)) as Partial<Manifest>);
    if (data !== null) return data;
  }
  return null;
}

/** Whose answers a run has; null if it has none. */
export function dataOf(manifest: Partial<Manifest>): TableData | null {
  if (madeUpOf(manifest) !== undefined) return "made up";
  const { live = 0, cache = 0, duplicate = 0 } = manifest.sources ?? {};
  return live + cache + duplicate > 0 ? "real" : null;
}

function insertInto(dialect: Dialect, runs: TableName, rows: string): string {
  const [id = "", ...others] = names(dialect);
  const insert = `INSERT INTO ${quoteTable(dialect, runs)} (${names(dialect).join(", ")}) ${rows}`;
  return dialect.replaceStored(insert, id, others);
}

function names(dialect: Dialect): readonly string[] {
  return runColumns.map(({ name }) => quoteIdentifier(dialect, name));
}

function column(name: string, type: TypedColumn["type"], value: RunColumn["value"]): RunColumn {
  return { name, type, nullable: true, value };
}

/** The input as named; several joined with commas. Null for a stream. */
function inputNames(path: string | null, inputs: Manifest["inputs"]): string | null {
  return inputs === undefined ? path : inputs.map((each) => each.path).join(", ");
}

/** U+0000 and lone surrogates, which `jsonb` refuses (PostgreSQL manual, section 8.14). */
const unstorable = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/gi;

/** The manifest as JSON that every database can store. */
function storedJson(manifest: Manifest): string {
  return JSON.stringify(manifest).replace(unstorable, "$1\\ufffd");
}
