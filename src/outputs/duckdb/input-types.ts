import type { DuckDBDecimalType, DuckDBType, DuckDBTypeId } from "@duckdb/node-api";
import { decimalType } from "../../formats/stored-types.js";
import type { InputType, StoredType } from "../../formats/typed-column.js";

/** The type of a column. @param ids of the driver's types */
export function duckdbType(type: DuckDBType, ids: typeof DuckDBTypeId): InputType {
  return { type: storedTypeOf(type, ids), declared: String(type) };
}

function storedTypeOf(type: DuckDBType, ids: typeof DuckDBTypeId): StoredType | null {
  if (type.typeId === ids.DECIMAL) {
    const { width, scale } = type as DuckDBDecimalType;
    return decimalType(width, scale);
  }
  switch (type.typeId) {
    case ids.BOOLEAN:
      return "boolean";
    case ids.TINYINT:
    case ids.SMALLINT:
    case ids.INTEGER:
    case ids.BIGINT:
    case ids.UTINYINT:
    case ids.USMALLINT:
    case ids.UINTEGER:
      return "integer";
    case ids.UBIGINT:
      return "decimal(20,0)";
    case ids.HUGEINT:
    case ids.UHUGEINT:
      return "numeric";
    case ids.FLOAT:
      return "float";
    case ids.DOUBLE:
      return "number";
    case ids.DATE:
      return "date";
    case ids.TIMESTAMP:
    case ids.TIMESTAMP_S:
    case ids.TIMESTAMP_MS:
      return "timestamp_local";
    case ids.TIMESTAMP_NS:
      return "timestamp_ns_local";
    case ids.TIMESTAMP_TZ:
      return "timestamp";
    case ids.UUID:
      return "uuid";
    case ids.VARCHAR:
      return type.alias === "JSON" ? "json" : "text";
    case ids.ENUM:
      return "text";
    default:
      return null;
  }
}
