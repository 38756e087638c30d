import { hash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { realPath } from "../../../core/files/folders.js";
import { sharedPath } from "../../../core/files/output-names.js";
import { fileWord } from "../output.js";
import {
  checkParameters,
  defaultTable,
  type Dialect,
  lacksType,
  parseTableName,
  qualifiedRows,
  sqlType,
  standardSql,
  type TableAddress,
  type TableName,
  tableText,
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
  parseAddress,
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

/** Parses the address of a table of a DuckDB file: `duckdb:FILE?table=NAME`. */
function parseAddress(name: string): TableAddress | null {
  if (!/^duckdb:/i.test(name)) return null;
  const before = name.slice(0, "duckdb:".length);
  const [path = "", query] = name.slice(before.length).split(/\?(.*)/s);
  const after = query === undefined ? "" : `?${query}`;
  const options = new URLSearchParams(query);
  const hint = "write duckdb:FILE?table=NAME";
  if (path === "" || path === ":memory:") {
    throw new UsageError("bad_output", `${name} does not name a DuckDB file`, { hint });
  }
  const place = `duckdb:${path}`;
  checkParameters(options, ["table"], place, hint);
  const table = duckdb.parseTable(options.get("table") ?? defaultTable);
  const file = realPath(path);
  return {
    dialect: duckdb,
    place,
    table,
    database: file,
    parts: { before, file: path, after },
    base: (stateDir) => baseOf(realPath(sharedPath(path)), table, stateDir),
    transact: async (options, work) =>
      (await import("./database.js")).transactInDuckdb(duckdb, file, options, work),
  };
}

/** One base per table: names ignore case, and `main` is the default schema. */
function baseOf(file: string, table: TableName, stateDir: string | undefined): string {
  const word = tableText(table)
    .toLowerCase()
    .replace(/^main\.(?=.)/, "");
  const base = `${file}.${fileWord(word)}`;
  if (stateDir === undefined) return base;
  // Databases of the same name in different folders stay apart.
  const place = hash("sha256", dirname(base)).slice(0, 8);
  return join(resolve(stateDir), `${basename(base)}-${place}`);
}
