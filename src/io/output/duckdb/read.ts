import type { DuckDBConnection, DuckDBType } from "@duckdb/node-api";
import { UsageError } from "../../../core/errors.js";
import { decimalType } from "../../formats/column-types.js";
import type { StoredType } from "../../formats/typed-column.js";
import { copyHeader, type CopyTarget } from "../../input/table-input.js";
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

/** Finds the columns of a query, whose names may repeat. Checks that it is a single one that reads. */
export async function duckdbColumns(connection: DuckDBConnection, query: string) {
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
export function refused(error: unknown): Error {
  if (error instanceof UsageError) return error;
  const text = error instanceof Error ? error.message : String(error);
  const [first = ""] = text.split("\n\n", 1);
  const said = first.replace(/^Failed to [a-z ]+: /, "").replaceAll("\n", " ");
  return queryRefused(said, error);
}

/** Without quotes, a cell is written as it is, unless it has the delimiter, which JSON has not. */
const linesAsTheyAre = "FORMAT csv, DELIMITER '\u0001', QUOTE '', ESCAPE '', USE_TMP_FILE false";

export function copyStatement(
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
