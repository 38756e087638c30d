import type { DuckDBResult, DuckDBType, DuckDBValue } from "@duckdb/node-api";
import { existsSync } from "node:fs";
import { timeText } from "../../../core/clock.js";
import { UsageError } from "../../../core/errors.js";
import { decimalType } from "../../formats/column-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";
import { loadDriver } from "../../../core/load-driver.js";
import { queryRefused, severalStatements, type SelectionReading } from "../sql/table-database.js";
import {
  floatText,
  type InputValue,
  jsonOf,
  JsonText,
  numberText,
  numberValue,
  objectValue,
} from "../../formats/input-values.js";
import { quoteTable } from "../sql/dialect.js";
import { duckdb } from "./dialect.js";
import { DuckdbDatabase, type DuckdbFile, type DuckdbDriver } from "./database.js";

/** Reads a table or the result of a query from a DuckDB file, opened read-only. */
export async function readDuckdbTable(
  target: DuckdbFile,
  { selection, receiver, signal }: SelectionReading,
): Promise<void> {
  if (!existsSync(target.file)) {
    throw new UsageError("input_not_found", `there is no file ${target.file}`, {
      hint: "check the path",
    });
  }
  const driver = await loadDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
  const database = await DuckdbDatabase.open(target, { access: "read" });
  try {
    const isQuery = "query" in selection;
    const sql = isQuery ? selection.query : `SELECT * FROM ${quoteTable(duckdb, selection.table)}`;
    const result = isQuery
      ? await checked(database, sql)
      : await database.start(sql).catch((error: unknown) => {
          throw database.explain(error);
        });
    const types = result.columnTypes();
    await receiver.begin(result.columnNames(), types.map(duckdbTypes(driver)));
    const valueOf = valueReader(driver);
    for (;;) {
      signal?.throwIfAborted();
      const chunk = await result.fetchChunk().catch((error: unknown) => {
        throw database.explain(error);
      });
      if (chunk === null || chunk.rowCount === 0) return;
      const rows = chunk.getRows();
      await receiver.rows(
        rows.map((row) => row.map((value, index) => valueOf(value, types[index]!))),
      );
    }
  } finally {
    await database.close();
  }
}

/** Starts a query after checking that it is a single one that reads. */
async function checked(database: DuckdbDatabase, sql: string): Promise<DuckDBResult> {
  try {
    const { count, isSelect } = await database.statement(sql);
    if (count > 1) throw severalStatements();
    if (!isSelect) throw queryRefused("it is not a SELECT");
    return await database.start(sql);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const text = error instanceof Error ? error.message : String(error);
    const [first = ""] = text.split("\n\n", 1);
    const said = first.replace(/^Failed to [a-z ]+: /, "").replaceAll("\n", " ");
    throw queryRefused(said, error);
  }
}

function valueReader(driver: DuckdbDriver): (value: DuckDBValue, type: DuckDBType) => InputValue {
  const read = (value: DuckDBValue, type?: DuckDBType): InputValue => {
    if (value === null || typeof value === "boolean" || typeof value === "bigint") return value;
    if (typeof value === "string") return type?.alias === "JSON" ? jsonText(value) : value;
    if (typeof value === "number") {
      const isFloat = type?.typeId === driver.DuckDBTypeId.FLOAT;
      return numberValue(isFloat ? floatText(value) : numberText(value));
    }
    return readObject(value);
  };
  const readObject = (value: Exclude<DuckDBValue, string | number | boolean | bigint | null>) => {
    if (value instanceof driver.DuckDBTimestampTZValue) return time(value, value.micros, 6);
    if (value instanceof driver.DuckDBTimestampValue) return time(value, value.micros, 6);
    if (value instanceof driver.DuckDBTimestampSecondsValue) return time(value, value.seconds, 0);
    if (value instanceof driver.DuckDBTimestampMillisecondsValue)
      return time(value, value.millis, 3);
    if (value instanceof driver.DuckDBTimestampNanosecondsValue) return time(value, value.nanos, 9);
    if (value instanceof driver.DuckDBDecimalValue) return numberValue(String(value));
    if (value instanceof driver.DuckDBListValue || value instanceof driver.DuckDBArrayValue) {
      return value.items.map((item) => read(item));
    }
    if (value instanceof driver.DuckDBStructValue) {
      return objectValue(Object.entries(value.entries).map(([name, of]) => [name, read(of)]));
    }
    if (value instanceof driver.DuckDBMapValue) {
      return objectValue(value.entries.map(({ key, value: of }) => [keyText(read(key)), read(of)]));
    }
    if (value instanceof driver.DuckDBUnionValue) return read(value.value);
    return String(value);
  };
  return read;
}

function keyText(key: InputValue): string {
  return typeof key === "string" ? key : jsonOf(key);
}

function jsonText(text: string): InputValue {
  // Within NDJSON, line ends would break a record; JSON has them only between tokens.
  return new JsonText(text.replaceAll(/[\r\n]+/g, " "));
}

/** Infinite times stay as the database prints them. */
function time(
  value: { readonly isFinite: boolean; toString(): string },
  units: bigint,
  decimals: number,
): string {
  return value.isFinite ? timeText(units, decimals) : value.toString();
}

function duckdbTypes({ DuckDBTypeId: ids }: DuckdbDriver): (type: DuckDBType) => InputType {
  const types: ReadonlyMap<DuckDBType["typeId"], StoredType> = new Map([
    [ids.BOOLEAN, "boolean"],
    [ids.TINYINT, "integer"],
    [ids.SMALLINT, "integer"],
    [ids.INTEGER, "integer"],
    [ids.BIGINT, "integer"],
    [ids.UTINYINT, "integer"],
    [ids.USMALLINT, "integer"],
    [ids.UINTEGER, "integer"],
    [ids.UBIGINT, "decimal(20,0)"],
    [ids.HUGEINT, "numeric"],
    [ids.UHUGEINT, "numeric"],
    [ids.FLOAT, "float"],
    [ids.DOUBLE, "number"],
    [ids.DATE, "date"],
    [ids.TIMESTAMP, "timestamp_local"],
    [ids.TIMESTAMP_S, "timestamp_local"],
    [ids.TIMESTAMP_MS, "timestamp_local"],
    [ids.TIMESTAMP_NS, "timestamp_ns_local"],
    [ids.TIMESTAMP_TZ, "timestamp"],
    [ids.UUID, "uuid"],
    [ids.VARCHAR, "text"],
    [ids.ENUM, "text"],
  ]);
  const typeOf = (type: DuckDBType): StoredType | null => {
    if (type.typeId === ids.DECIMAL) return decimalType(type.width, type.scale);
    if (type.alias === "JSON") return "json";
    return types.get(type.typeId) ?? null;
  };
  return (type) => ({ type: typeOf(type), declared: String(type) });
}
