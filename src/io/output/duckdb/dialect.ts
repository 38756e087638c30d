import {
  type Dialect,
  lacksType,
  parseTableName,
  qualifiedRows,
  sqlType,
  standardSql,
} from "../sql/dialect.js";
import { anyName } from "../typed/table-schema.js";

/** DuckDB, Data Types. */
const types: Dialect["types"] = {
  text: "VARCHAR",
  boolean: "BOOLEAN",
  count: "BIGINT",
  integer: "BIGINT",
  number: "DOUBLE",
  float: "FLOAT",
  numeric: "VARCHAR",
  date: "DATE",
  timestamp: "TIMESTAMPTZ",
  timestamp_local: "TIMESTAMP",
  timestamp_ns: "VARCHAR",
  timestamp_ns_local: "TIMESTAMP_NS",
  uuid: "UUID",
  json: "JSON",
  "text[]": "VARCHAR[]",
};

export const duckdb: Dialect = {
  ...standardSql,
  name: "duckdb",
  about: "the same for DuckDB",
  rules: { ...anyName, lacks: lacksType(types) },
  types,
  decimal: (precision, scale) => `DECIMAL(${precision},${scale})`,
  catalogue: { TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE" },
  isCaseSensitive: false,
  // No limit is documented.
  maxColumns: Number.POSITIVE_INFINITY,
  staged(index, type) {
    const cell = `cells[${index + 1}]`;
    if (type === "text") return cell;
    return `${type === "text[]" ? `${cell}::JSON` : cell}::${sqlType(duckdb, type)}`;
  },
  parseTable: parseTableName,
  firstRows: qualifiedRows,
  // An update takes DuckDB twice the time and memory of these.
  merge({ to, newest, key, columns, age }) {
    const same = key.map((name) => `t.${name} = f.${name}`).join(" AND ");
    const [names, from] = [columns.join(", "), "temp.repute_newest"];
    return [
      // A merge touches the whole index of the key, which DuckDB keeps in memory.
      "SET memory_limit = '1GB'",
      `CREATE TEMPORARY TABLE repute_newest AS ${newest}`,
      `DELETE FROM ${to} AS t USING ${from} AS f WHERE ${same} AND ${age("f")} > ${age("t")}`,
      `INSERT INTO ${to} (${names}) SELECT ${names} FROM ${from} ON CONFLICT (${key.join(", ")}) DO NOTHING`,
      `DROP TABLE ${from}`,
    ];
  },
};
