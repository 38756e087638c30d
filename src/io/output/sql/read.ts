import {
  addedColumns,
  lackedColumns,
  type OptionalColumns,
  optionalColumnsIn,
} from "../../../core/columns.js";
import { mapLists } from "../../formats/reading/lines.js";
import type { RunRows, TableRecords } from "../output.js";
import { typedRecord } from "../output-row.js";
import { copiedRows } from "../../input/copies.js";
import type { TableInput } from "../../input/table-input.js";
import { FatalError, UsageError } from "../../../core/errors.js";
import { sqlText } from "./copy-statement.js";
import { quoteTable, type TableName } from "./dialect.js";
import { checkTable } from "./prepare-table.js";
import { type TableDatabase, type TableTarget, withDatabase } from "./tables.js";
import { tableSchema } from "../typed/table-schema.js";

/**
 * Opens the rows of a run in a table, in their order.
 *
 * @param select makes an input of a query
 */
export async function readRun(
  target: TableTarget,
  rows: RunRows,
  select: (query: string) => TableInput,
): Promise<TableRecords> {
  const { name, table } = target;
  const found = await withDatabase(target, { access: "read" }, (database) =>
    database.transaction(async () => {
      const there = await database.find(table);
      return there && findRun(database, there, name, rows);
    }, "ROLLBACK"),
  );
  if (found === null) {
    throw new FatalError("output_missing", `there is no table ${name}`, {
      hint: "check the name",
    });
  }
  const { only } = rows;
  const { optional, own, query } = found;
  const lacks = lackedColumns(only ?? [], optional);
  const wanted = only ?? addedColumns(optional).map((column) => column.name);
  const added = wanted.filter((column) => !lacks.includes(column));
  const columns = only === undefined ? own : [];
  const records = mapLists(copiedRows(select(query(added, columns))), (row) =>
    typedRecord(added, row),
  );
  return { columns, records, optional };
}

interface FoundRun {
  readonly optional: OptionalColumns;
  /** The table's own columns. */
  readonly own: readonly string[];
  /** What selects these added columns, without their prefix, and these others. */
  readonly query: (added: readonly string[], own: readonly string[]) => string;
}

async function findRun(
  session: TableDatabase,
  table: TableName,
  name: string,
  { prefix, runId }: RunRows,
): Promise<FoundRun> {
  const { dialect, query } = session;
  const columns = await session.columnsOf(table);
  const names = columns.map((column) => column.name);
  if (!names.includes(`${prefix}status`)) {
    throw new UsageError("not_an_output", `${name} has no column ${prefix}status`, {
      hint: "name an output of repute; give --prefix if its added columns don't start with rep_",
    });
  }
  const optional = optionalColumnsIn(names, prefix);
  const schema = tableSchema(dialect.rules, { columns: [], prefix, optional });
  checkTable(dialect, table, schema, columns);
  const { quote: quoted } = dialect;
  const [from, run] = [quoteTable(dialect, table), quoted(`${prefix}run_id`)];
  const [[newest = null] = []] = await query(
    runId === null
      ? `SELECT max(${run}) FROM ${from}`
      : `SELECT ${run} FROM ${from} WHERE ${run} = ${sqlText(runId)} LIMIT 1`,
  );
  if (newest === null) {
    const which = runId === null ? "" : ` of the run ${runId}`;
    throw new FatalError("no_such_run", `${name} has no rows${which}`, {
      hint: "name another run, or none to take the newest",
    });
  }
  const ours = new Map(schema.columns.map((column) => [column.name, column.type]));
  const selected = (column: string): string =>
    ours.get(column) === "text[]"
      ? `array_to_string(${quoted(column)}, '|') AS ${quoted(column)}`
      : quoted(column);
  const rows = `FROM ${from} WHERE ${run} = ${sqlText(String(newest))} ORDER BY ${quoted(`${prefix}row`)}`;
  return {
    optional,
    own: names.filter((column) => !ours.has(column)),
    query: (added, own) =>
      `SELECT ${[...added.map((column) => prefix + column), ...own].map(selected).join(", ")} ${rows}`,
  };
}
