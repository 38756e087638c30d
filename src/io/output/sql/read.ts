import { mapLists } from "../../formats/reading/lines.js";
import type { RunRows, TableRecords } from "../output.js";
import { outputColumns, typedRecord } from "../output-row.js";
import { copiedRows } from "../../input/copies.js";
import type { TableInput } from "../../input/table-input.js";
import { FatalError } from "../../../core/errors.js";
import { sqlText } from "./copy-statement.js";
import { quoteTable, type TableAddress, type TableName, type TableSession } from "./dialect.js";
import { checkTable } from "./prepare-table.js";

/**
 * Opens the rows of a run in a table, in their order.
 *
 * @param name of the table in messages
 * @param select makes an input of a query
 */
export async function readRun(
  { table, transact }: TableAddress,
  name: string,
  rows: RunRows,
  select: (query: string) => TableInput,
): Promise<TableRecords> {
  const { query, added, ...found } = await transact({ name, access: "read" }, (session) =>
    findRun(session, name, table, rows),
  );
  const records = mapLists(copiedRows(select(query)), (row) => typedRecord(added, row));
  return { ...found, records };
}

/** Finds the columns of a run, and the query of its rows: first the added columns, then its own. */
async function findRun(session: TableSession, name: string, named: TableName, rows: RunRows) {
  const { prefix, runId } = rows;
  const { dialect, query } = session;
  const table = await session.find(named);
  if (table === null) {
    throw new FatalError("output_missing", `there is no table ${name}`, { hint: "check the name" });
  }
  const { columns: stored } = await session.factsOf(table);
  const names = stored.map((column) => column.name);
  const { optional, ours, added, own } = outputColumns(name, names, dialect.rules, rows);
  checkTable(dialect, table, { columns: ours, key: [] }, stored);
  const { quote } = dialect;
  const [from, run] = [quoteTable(dialect, table), quote(`${prefix}run_id`)];
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
  const lists = new Set(ours.filter(({ type }) => type === "text[]").map((column) => column.name));
  const selected = [...added.map((column) => prefix + column), ...own].map((column) =>
    lists.has(column) ? `array_to_string(${quote(column)}, '|')` : quote(column),
  );
  return {
    runId: String(newest),
    optional,
    columns: own,
    added,
    query: `SELECT ${selected.join(", ")} FROM ${from} WHERE ${run} = ${sqlText(String(newest))} ORDER BY ${quote(`${prefix}row`)}`,
  };
}
