import type { DuckDBType } from "@duckdb/node-api";
import { existsSync } from "node:fs";
import { type ReputeError, UsageError } from "../../../core/errors.js";
import { outputFault } from "../../../core/files/output-fault.js";
import { decimalType } from "../../formats/column-types.js";
import type { StoredType } from "../../formats/typed-column.js";
import {
  type CopiedTable,
  copyHeader,
  type CopyOptions,
  type CopyTarget,
} from "../../input/table-input.js";
import {
  type CopiedColumn,
  copiedName,
  onOneLine,
  queryRefused,
  selectLines,
  severalStatements,
  sqlText,
  textColumn,
  timeColumn,
} from "../sql/copy-statement.js";
import type { Selection } from "../sql/tables.js";
import { DuckdbDatabase, type DuckdbFile } from "./database.js";

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
  const database = await DuckdbDatabase.open(target, { access: "read" });
  const interrupt = (): void => database.interrupt();
  try {
    const { names, types } = await describe(database, selection);
    const stored = types.map((type) => ({ type: storedType(type), declared: String(type) }));
    const copied = { columns: names, types: stored, rows: 0 };
    if (to === null) return copied;
    signal?.throwIfAborted();
    signal?.addEventListener("abort", interrupt);
    await database.query("SET TimeZone = 'UTC'");
    const [[rows] = []] = await database.query(copyStatement(to, selection.query, names, types));
    return { ...copied, rows: Number(rows) };
  } catch (error) {
    signal?.throwIfAborted();
    throw to === null ? error : copyFault(to, selection, error);
  } finally {
    signal?.removeEventListener("abort", interrupt);
    await database.close();
  }
}

/** Checks that a query is a single one that reads, and finds its columns, whose names may repeat. */
async function describe(database: DuckdbDatabase, { query, isOwn }: Selection) {
  try {
    const { count, prepared } = await database.prepare(query);
    if (prepared === null) {
      throw queryRefused(count > 1 ? severalStatements : "it is not a SELECT");
    }
    const places = Array.from({ length: prepared.columnCount }, (_, index) => index);
    const names = places.map((index) => prepared.columnName(index));
    const types = places.map((index) => prepared.columnType(index));
    prepared.destroySync();
    return { names, types };
  } catch (error) {
    throw isOwn ? refused(error) : database.explain(error);
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
  query: string,
  names: readonly string[],
  types: readonly DuckDBType[],
): string {
  const columns = types.map((type, index) => columnOf(type, copiedName(index)));
  // The header is the name of the only column.
  const line = copyHeader(names, shape).trimEnd();
  const lines = selectLines({ shape, query, names, columns, line: line || "line" });
  return `COPY (${lines}) TO ${sqlText(path)} (${linesAsTheyAre}, HEADER ${line !== ""})`;
}

/** The fault of a copy, which may be that of the file that it writes, or of the query. */
function copyFault({ path }: CopyTarget, { isOwn }: Selection, error: unknown): unknown {
  const { code, cause } = error as ReputeError;
  if (code === "output_disk_full") {
    return outputFault(path, Object.assign(new Error("disk full", { cause }), { code: "ENOSPC" }));
  }
  return code === "output_duckdb" && isOwn ? refused(cause) : error;
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

/** Copies the values of a type at any depth. */
function columnOf(type: DuckDBType, value: string): CopiedColumn {
  const printed = `${value}::text`;
  const stored = storedType(type) ?? "text";
  if (stored === "json") return same(onOneLine(printed));
  if (/^(?:boolean|integer|numeric|decimal)/.test(stored)) return same(printed);
  if (stored === "float" || stored === "number") return floatColumn(value);
  if (stored.startsWith("timestamp")) return timeColumn(printed);
  if ("keyType" in type) return mapColumn(type.keyType, type.valueType, value);
  if (isList(type)) return listColumn(type.valueType, value);
  if (!("entryTypes" in type)) return textColumn(printed);
  const members = type.entryTypes.map((member, index) => {
    const name = sqlText(`${JSON.stringify(type.entryNames[index])}:`);
    return `${name} || ${jsonOf(member, `struct_extract_at(${value}, ${index + 1})`)}`;
  });
  return same(
    `CASE WHEN ${value} IS NOT NULL THEN '{' || ${members.join(" || ',' || ")} || '}' END`,
  );
}

function same(text: string): CopiedColumn {
  return { text, json: text };
}

function jsonOf(type: DuckDBType, value: string): string {
  return `coalesce(${columnOf(type, value).json}, 'null')`;
}

type ListType = Extract<DuckDBType, { readonly valueType: DuckDBType }>;

function isList(type: DuckDBType): type is ListType {
  return "valueType" in type && !("keyType" in type);
}

function each(list: string, of: (entry: string) => string): string {
  return `list_transform(${list}, lambda entry: ${of("entry")})`;
}

/** As cells, entries are joined with `|` if that keeps them apart. */
function listColumn(type: DuckDBType, value: string): CopiedColumn {
  const entries = each(value, (entry) => jsonOf(type, entry));
  const json = `'[' || array_to_string(${entries}, ',') || ']'`;
  if (isList(type)) return { text: `CASE WHEN len(${value}) = 0 THEN '' ELSE ${json} END`, json };
  const texts = each(value, (entry) => columnOf(type, entry).text);
  const others = `list_filter(${texts}, lambda entry: entry IS NULL OR contains(entry, '|'))`;
  const text = `CASE WHEN len(${others}) = 0 THEN array_to_string(${texts}, '|') ELSE ${json} END`;
  return { text, json };
}

function mapColumn(keyType: DuckDBType, valueType: DuckDBType, value: string): CopiedColumn {
  const members = each(`map_entries(${value})`, (entry) => {
    const { text, json } = columnOf(keyType, `${entry}.key`);
    const name = isList(keyType) ? json : text;
    return `to_json(${name})::text || ':' || ${jsonOf(valueType, `${entry}.value`)}`;
  });
  return same(`'{' || array_to_string(${members}, ',') || '}'`);
}

/** A number without `.0`; NaN and the infinities, which JSON lacks, are text. */
function floatColumn(value: string): CopiedColumn {
  const digits = String.raw`regexp_replace(${value}::text, '\.0$', '')`;
  const other = `CASE WHEN isnan(${value}) THEN 'NaN' WHEN ${value} > 0 THEN 'Infinity' ELSE '-Infinity' END`;
  const cases = (otherwise: string): string =>
    `CASE WHEN isfinite(${value}) THEN ${digits} WHEN ${value} IS NOT NULL THEN ${otherwise} END`;
  return { text: cases(other), json: cases(`'"' || ${other} || '"'`) };
}
