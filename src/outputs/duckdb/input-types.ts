import type { DuckDBType } from "@duckdb/node-api";
import { decimalType } from "../../formats/stored-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";
import type { DuckdbDriver } from "./open-duckdb.js";

/** Returns a function that tells the type of a column. */
export function duckdbTypes({ DuckDBTypeId: ids }: DuckdbDriver): (type: DuckDBType) => InputType {
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
