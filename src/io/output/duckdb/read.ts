import type { DuckDBConnection, DuckDBType } from "@duckdb/node-api";
import { type FatalError, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/system-fault.js";
import { decimalType, type StoredType } from "../../formats/column-types.js";
import { type CopiedTable, copyHeader } from "../../input/table-input.js";
import {
  copiedName,
  onOneLine,
  queryRefused,
  selectLines,
  severalStatements,
  sqlText,
  textJson,
  timeJson,
} from "../sql/copy-statement.js";
import type { Selection } from "../sql/dialect.js";

/**
 * Copies the rows of a selection, as `TableSession.copy`.
 *
 * @param explain explains an error of the database
 */
export async function copyFromDuckdb(
  connection: DuckDBConnection,
  explain: (error: unknown) => Error,
  { query, isOwn }: Selection,
  path: string | null,
  signal: AbortSignal | undefined,
): Promise<CopiedTable> {
  const found = await findColumns(connection, query).catch((error: unknown) => {
    throw isOwn ? refused(error) : explain(error);
  });
  const { names, types, stored } = found;
  const copied = { columns: names, types: stored, rows: 0 };
  if (path === null) return copied;
  signal?.throwIfAborted();
  const interrupt = (): void => connection.interrupt();
  signal?.addEventListener("abort", interrupt);
  try {
    await connection.run("SET TimeZone = 'UTC'");
    const result = await connection.runAndReadAll(copyStatement(path, query, names, types));
    return { ...copied, rows: Number(result.getRows()[0]?.[0]) };
  } catch (error) {
    signal?.throwIfAborted();
    const fault = explain(error) as Partial<FatalError>;
    // The full disk is that of the copy.
    if (fault.code === "output_disk_full") {
      throw outputFault(path, Object.assign(new Error("", { cause: error }), { code: "ENOSPC" }));
    }
    throw fault.code === "output_duckdb" && isOwn ? refused(error) : fault;
  } finally {
    signal?.removeEventListener("abort", interrupt);
  }
}

/** Finds the columns of a query, whose names may repeat. Checks that it is a single one that reads. */
async function findColumns(connection: DuckDBConnection, query: string) {
  const { StatementType } = await import("@duckdb/node-api");
  const extracted = await connection.extractStatements(query);
  if (extracted.count > 1) throw queryRefused(severalStatements);
  const prepared = extracted.count === 0 ? null : await extracted.prepare(0);
  try {
    if (prepared?.statementType !== StatementType.SELECT) throw queryRefused("it is not a SELECT");
    const places = Array.from({ length: prepared.columnCount }, (_, index) => index);
    const types = places.map((index) => prepared.columnType(index));
    return {
      names: places.map((index) => prepared.columnName(index)),
      types,
      stored: types.map((type) => ({ type: storedType(type), declared: String(type) })),
    };
  } finally {
    prepared?.destroySync();
  }
}

/** Says what DuckDB has against a query of the user. */
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
  path: string,
  query: string,
  names: readonly string[],
  types: readonly DuckDBType[],
): string {
  const columns = types.map((type, index) => {
    const value = copiedName(index);
    const json = jsonOf(type, value);
    return storedType(type) === "json" ? textJson(json) : json;
  });
  // The header is the name of the only column.
  const lines = selectLines(query, columns, copyHeader(names).trimEnd());
  return `COPY (${lines}) TO ${sqlText(path)} (${linesAsTheyAre}, HEADER)`;
}

/** By DuckDB's names, without those that have parameters. */
const storedTypes: ReadonlyMap<string, StoredType> = new Map([
  ["BOOLEAN", "boolean"],
  ["TINYINT", "integer"],
  ["SMALLINT", "integer"],
  ["INTEGER", "integer"],
  ["BIGINT", "integer"],
  ["UTINYINT", "integer"],
  ["USMALLINT", "integer"],
  ["UINTEGER", "integer"],
  ["UBIGINT", "decimal(20,0)"],
  ["HUGEINT", "numeric"],
  ["UHUGEINT", "numeric"],
  ["FLOAT", "float"],
  ["DOUBLE", "number"],
  ["DATE", "date"],
  ["TIMESTAMP", "timestamp_local"],
  ["TIMESTAMP_S", "timestamp_local"],
  ["TIMESTAMP_MS", "timestamp_local"],
  ["TIMESTAMP_NS", "timestamp_ns_local"],
  ["TIMESTAMP WITH TIME ZONE", "timestamp"],
  ["UUID", "uuid"],
  ["VARCHAR", "text"],
]);

/** The type of a column; null if it becomes text. */
function storedType(type: DuckDBType): StoredType | null {
  if (type.alias === "JSON") return "json";
  if ("scale" in type) return decimalType(type.width, type.scale);
  return "internalTypeId" in type ? "text" : (storedTypes.get(String(type)) ?? null);
}

/** The JSON of values of a type at any depth, as SQL: null for null. */
function jsonOf(type: DuckDBType, value: string): string {
  const printed = `${value}::text`;
  const stored = storedType(type) ?? "text";
  if (stored === "json") return onOneLine(printed);
  if (/^(?:boolean|integer|numeric|decimal)/.test(stored)) return printed;
  if (stored === "float" || stored === "number") return floatJson(value);
  if (stored.startsWith("timestamp")) return timeJson(printed);
  if ("keyType" in type) {
    const members = each(`map_entries(${value})`, (entry) => {
      const key = jsonOf(type.keyType, `${entry}.key`);
      const name = `CASE WHEN starts_with(${key}, '"') THEN ${key} ELSE ${textJson(key)} END`;
      return `${name} || ':' || ${elementOf(type.valueType, `${entry}.value`)}`;
    });
    return `'{' || array_to_string(${members}, ',') || '}'`;
  }
  if ("valueType" in type) {
    const entries = each(value, (entry) => elementOf(type.valueType, entry));
    return `'[' || array_to_string(${entries}, ',') || ']'`;
  }
  if (!("entryTypes" in type)) return textJson(printed);
  const members = type.entryTypes.map((member, index) => {
    const name = sqlText(`${JSON.stringify(type.entryNames[index])}:`);
    return `${name} || ${elementOf(member, `struct_extract_at(${value}, ${index + 1})`)}`;
  });
  return `CASE WHEN ${value} IS NOT NULL THEN '{' || ${members.join(" || ',' || ")} || '}' END`;
}

function elementOf(type: DuckDBType, value: string): string {
  return `coalesce(${jsonOf(type, value)}, 'null')`;
}

function each(list: string, of: (entry: string) => string): string {
  return `list_transform(${list}, lambda entry: ${of("entry")})`;
}

/** A number without `.0`; NaN and the infinities, which JSON lacks, are text. */
function floatJson(value: string): string {
  const digits = String.raw`regexp_replace(${value}::text, '\.0$', '')`;
  const other = `CASE WHEN isnan(${value}) THEN '"NaN"' WHEN ${value} > 0 THEN '"Infinity"' ELSE '"-Infinity"' END`;
  return `CASE WHEN isfinite(${value}) THEN ${digits} WHEN ${value} IS NOT NULL THEN ${other} END`;
}
