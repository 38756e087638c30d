import {
  type Dialect,
  doubleQuoted,
  lacksType,
  onConflict,
  parseTableName,
  qualifiedRows,
} from "../sql/dialect.js";
import { plainName } from "../typed/column-rules.js";

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
  name: "duckdb",
  about: "the same for DuckDB",
  rules: {
    longest: Number.POSITIVE_INFINITY,
    clean: plainName,
    reserved: [],
    lacks: lacksType(types),
  },
  types,
  decimal: (precision, scale) => `DECIMAL(${precision},${scale})`,
  catalogue: { TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE" },
  isCaseSensitive: false,
  // No limit is documented.
  maxColumns: Number.POSITIVE_INFINITY,
  maxKeyBytes: Number.POSITIVE_INFINITY,
  quote: doubleQuoted,
  parseTable: parseTableName,
  primaryKey: (columns) => `PRIMARY KEY (${columns})`,
  parameter: (number) => `$${number}`,
  earliest: "'-infinity'",
  isIn: (text, list) => `${text} = ANY(${list})`,
  comparable: (list) => list,
  firstRows: qualifiedRows,
  ...onConflict,
  // An update takes DuckDB twice the time and memory of these.
  merge({ to, from, insert, key, age }) {
    const same = key.map((name) => `t.${name} = f.${name}`).join(" AND ");
    return [
      `DELETE FROM ${to} AS t USING ${from} AS f WHERE ${same} AND ${age("f")} > ${age("t")}`,
      onConflict.keepStored(insert, key.join(", ")),
    ];
  },
  // A merge touches the whole index of the key, which DuckDB keeps in memory.
  mergeSettings: ["SET memory_limit = '2GB'"],
};
