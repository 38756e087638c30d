import type { DuckDBType } from "@duckdb/node-api";
import { existsSync } from "node:fs";
import { type ReputeError, UsageError } from "../../../core/errors.js";
import { loadDriver } from "../../../core/load-driver.js";
import {
  type CopiedTable,
  copyHeader,
  type CopyOptions,
  type CopyTarget,
} from "../../input/table-input.js";
import { outputFault } from "../../../core/files/output-fault.js";
import { quoteTable } from "../sql/dialect.js";
import { type CopiedQuery, copiedName, selectLines, sqlText } from "../sql/copy-statement.js";
import { queryRefused, type Selection, severalStatements } from "../sql/table-database.js";
import { DuckdbTypes } from "./copied-column.js";
import { DuckdbDatabase, type DuckdbFile } from "./database.js";
import { duckdb } from "./dialect.js";

/** Lets DuckDB copy a table or the result of a query from a file, opened read-only. */
export async function copyDuckdb(
  target: DuckdbFile,
  selection: Selection,
  to: CopyTarget | null,
  { signal }: CopyOptions,
): Promise<CopiedTable> {
  if (!existsSync(target.file)) {
    throw new UsageError("input_not_found", `there is no file ${target.file}`, {
      hint: "check the path",
    });
  }
  const driver = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
  const database = await DuckdbDatabase.open(target, { access: "read" });
  const interrupt = (): void => database.interrupt();
  try {
    const { query, names, types } = await described(database, selection);
    const known = new DuckdbTypes(driver);
    const copied = { columns: names, types: types.map((type) => known.inputType(type)) };
    if (to === null) return { ...copied, rows: 0 };
    const columns = types.map((type, index) => known.column(type, copiedName(index)));
    signal?.throwIfAborted();
    signal?.addEventListener("abort", interrupt);
    await database.query("SET TimeZone = 'UTC'");
    const [[rows] = []] = await database.query(copyStatement(to, { query, names, columns }));
    return { ...copied, rows: Number(rows) };
  } catch (error) {
    signal?.throwIfAborted();
    throw to === null ? error : copyFault(to, selection, error);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    await database.close();
  }
}

interface Described {
  readonly query: string;
  /** Names may repeat. */
  readonly names: readonly string[];
  readonly types: readonly DuckDBType[];
}

/** Checks that a query is a single one that reads, and finds its columns. */
async function described(database: DuckdbDatabase, selection: Selection): Promise<Described> {
  const isQuery = "query" in selection;
  const query = isQuery ? selection.query : `FROM ${quoteTable(duckdb, selection.table)}`;
  try {
    const { count, prepared } = await database.prepare(query);
    if (prepared === null) {
      throw count > 1 ? severalStatements() : queryRefused("it is not a SELECT");
    }
    const places = Array.from({ length: prepared.columnCount }, (_, index) => index);
    const names = places.map((index) => prepared.columnName(index));
    const types = places.map((index) => prepared.columnType(index));
    prepared.destroySync();
    return { query, names, types };
  } catch (error) {
    throw isQuery ? refused(error) : database.explain(error);
  }
}

function refused(error: unknown): Error {
  if (error instanceof UsageError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [first = ""] = text.split("\n\n", 1);
  const said = first.replace(/^Failed to [a-z ]+: /, "").replaceAll("\n", " ");
  return queryRefused(said, error);
}

/** Without quotes, a cell is written as it is, unless it has the delimiter, which JSON has not. */
const linesAsTheyAre = "FORMAT csv, DELIMITER '\u0001', QUOTE '', ESCAPE '', USE_TMP_FILE false";

function copyStatement(
  { path, shape }: CopyTarget,
  { query, names, columns }: Omit<Described, "types"> & Pick<CopiedQuery, "columns">,
): string {
  // The header is the name of the only column.
  const line = copyHeader(names, shape).trimEnd();
  const lines = selectLines({ shape, query, names, columns, line: line || "line" });
  return `COPY (${lines}) TO ${sqlText(path)} (${linesAsTheyAre}, HEADER ${line !== ""})`;
}

/** The fault of a copy, which may be that of the file that it writes, or of the query. */
function copyFault({ path }: CopyTarget, selection: Selection, error: unknown): unknown {
  const { code, cause } = error as ReputeError;
  if (code === "output_disk_full") {
    return outputFault(path, Object.assign(new Error("disk full", { cause }), { code: "ENOSPC" }));
  }
  return code === "output_duckdb" && "query" in selection ? refused(cause) : error;
}
