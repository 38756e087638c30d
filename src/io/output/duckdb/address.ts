import { hash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { sharedPath } from "../../../core/files/output-names.js";
import { realPath } from "../../../core/files/folders.js";
import { fileWord } from "../output.js";
import { defaultTable, type TableName, tableText } from "../sql/dialect.js";
import { duckdb } from "./dialect.js";
import { checkParameters, type DatabaseKind, type TableAddress } from "../sql/tables.js";

/** Tables of DuckDB files: `duckdb:FILE?table=NAME`. */
export const duckdbTables = { dialect: duckdb, parse } satisfies DatabaseKind;

function parse(name: string): TableAddress | null {
  if (!/^duckdb:/i.test(name)) {
    if (!/\.(?:duckdb|ddb)$/i.test(name)) return null;
    throw new UsageError("bad_output", `${name} names a database file without a table`, {
      hint: `write duckdb:${name}?table=${defaultTable}`,
    });
  }
  const before = name.slice(0, "duckdb:".length);
  const [path = "", query] = name.slice(before.length).split(/\?(.*)/s);
  const after = query === undefined ? "" : `?${query}`;
  const options = new URLSearchParams(query);
  const hint = "write duckdb:FILE?table=NAME";
  if (path === "" || path === ":memory:") {
    throw new UsageError("bad_output", `${name} does not name a DuckDB file`, { hint });
  }
  const place = `duckdb:${path}`;
  checkParameters(options, { known: ["table"], name: place, hint });
  const table = duckdb.parseTable(options.get("table") ?? defaultTable);
  const file = realPath(path);
  return {
    place,
    form: "duckdb:FILE",
    table,
    database: file,
    parts: { before, file: path, after },
    base: (stateDir) => baseOf(realPath(sharedPath(path)), table, stateDir),
    connect: async (shown, options) =>
      (await import("./database.js")).DuckdbDatabase.open(file, shown, options),
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
