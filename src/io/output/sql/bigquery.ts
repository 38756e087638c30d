import { lacksType, parseTableName, qualifiedRows, type SchemaDialect } from "./dialect.js";

/** BigQuery, Data types. */
const types: SchemaDialect["types"] = {
  text: "STRING",
  boolean: "BOOL",
  count: "INT64",
  integer: "INT64",
  number: "FLOAT64",
  float: "FLOAT64",
  numeric: "STRING",
  date: "DATE",
  timestamp: "TIMESTAMP",
  timestamp_local: "DATETIME",
  timestamp_ns: "STRING",
  timestamp_ns_local: "STRING",
  uuid: "STRING",
  json: "JSON",
  "text[]": "ARRAY<STRING>",
};

/** For `repute schema` only: no run writes to it. */
export const bigquery: SchemaDialect = {
  name: "bigquery",
  about: "the same for BigQuery",
  // Schemas, Column names.
  rules: { longest: 300, clean: cleanWord, reserved: [], lacks: lacksType(types) },
  types,
  // Data types, Numeric types: NUMERIC has 29 digits before the point and 9 after it.
  decimal: (precision, scale) =>
    `${scale <= 9 && precision - scale <= 29 ? "NUMERIC" : "BIGNUMERIC"}(${precision},${scale})`,
  // Quotas and limits, Tables.
  maxColumns: 10_000,
  // Lexical structure, Quoted identifiers: backslash escapes.
  quote: (name) => `\`${name.replaceAll("\\", "\\\\").replaceAll("`", "\\`")}\``,
  parseTable(text) {
    const dot = text.lastIndexOf(".");
    // Datasets include their project: `project.dataset` is one quoted path.
    if (dot === text.indexOf(".")) return parseTableName(text);
    return { schema: text.slice(0, dot), name: parseTableName(text.slice(dot + 1)).name };
  },
  // Keys are not enforced.
  primaryKey: (columns) => `PRIMARY KEY (${columns}) NOT ENFORCED`,
  isIn: (text, list) => `${text} IN UNNEST(${list})`,
  memberOf: (json, name) => `JSON_VALUE(${json}, '$.${name}')`,
  // Arrays are not compared.
  comparable: (list) => `TO_JSON_STRING(${list})`,
  firstRows: qualifiedRows,
};

const reserved = /^(?:_TABLE_|_FILE_|_PARTITION|_ROW_TIMESTAMP|__ROOT__|_COLIDENTIFIER)/i;

function cleanWord(name: string): string {
  const word = name.trim().replace(/[^A-Za-z0-9_]+/g, "_");
  if (word === "" || /^_+$/.test(word)) return "";
  return /^\d/.test(word) || reserved.test(word) ? `c_${word}`.replace("__", "_") : word;
}
