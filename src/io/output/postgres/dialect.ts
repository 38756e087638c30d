import { UsageError } from "../../../core/errors.js";
import { serverBase } from "../output.js";
import {
  checkParameters,
  defaultTable,
  type Dialect,
  excluded,
  lacksType,
  parseTableName,
  sqlType,
  standardSql,
  type TableAddress,
  type TableName,
  tableText,
} from "../sql/dialect.js";
import { plainName } from "../typed/table-schema.js";

/** Types of PostgreSQL 16 (manual, section 8.1). */
const types: Dialect["types"] = {
  text: "text",
  boolean: "boolean",
  count: "bigint",
  integer: "bigint",
  number: "double precision",
  float: "real",
  numeric: "numeric",
  date: "date",
  timestamp: "timestamptz",
  timestamp_local: "timestamp",
  timestamp_ns: "text",
  timestamp_ns_local: "text",
  uuid: "uuid",
  json: "jsonb",
  "text[]": "text[]",
};

/**
 * Longest identifier in PostgreSQL, in bytes (manual, section 4.1.1). The server silently truncates
 * longer ones.
 */
const maxName = 63;

export const postgres: Dialect = {
  ...standardSql,
  name: "postgres",
  parseAddress,
  about:
    "the table, the table of its runs, and views of its newest rows, changes and history, for PostgreSQL",
  rules: {
    longest: maxName,
    refusesLong: "PostgreSQL",
    clean: plainName,
    // System columns (manual, section 5.6).
    reserved: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"],
    lacks: lacksType(types),
  },
  types,
  decimal: (precision, scale) => `numeric(${precision},${scale})`,
  catalogue: {
    timestamp: "timestamp without time zone",
    timestamptz: "timestamp with time zone",
  },
  // Quoted names (manual, section 4.1.1).
  isCaseSensitive: true,
  // Manual, appendix K.
  maxColumns: 1_600,
  // Manual, section 9.16.
  staged(index, type) {
    const cell = `(cells->>${index})`;
    if (type === "text") return cell;
    if (type !== "text[]") return `${cell}::${sqlType(postgres, type)}`;
    return `CASE WHEN ${cell} IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(cells->${index})) END`;
  },
  // An entry of an index has at most 2,704 (manual, section 64.1.4).
  maxKeyBytes: 2_600,
  parseTable,
  firstRows: ({ from, where, group, order }) =>
    `SELECT DISTINCT ON (${group}) *\n${from}\n${where}\nORDER BY ${group}, ${order}`,
  merge({ to, newest, key, columns, age }) {
    const others = columns.filter((name) => !key.includes(name));
    const update = `UPDATE SET ${excluded(others)} WHERE ${age("excluded")} > ${age("t")}`;
    const insert = `INSERT INTO ${to} AS t (${columns.join(", ")}) ${newest}`;
    return [`${insert} ON CONFLICT (${key.join(", ")}) DO ${update}`];
  },
};

const longestSuffix = "_changes";

function parseTable(text: string): TableName {
  const table = parseTableName(text);
  mustFit("the schema name", table.schema ?? "", maxName);
  const suffix = `, including the suffix ${longestSuffix} of a view beside the table`;
  mustFit("the table name", table.name, maxName - longestSuffix.length, suffix);
  return table;
}

function mustFit(what: string, name: string, longest: number, more = ""): void {
  const length = Buffer.byteLength(name);
  if (length <= longest) return;
  const message = `${what} ${name} has ${length} bytes; PostgreSQL allows ${maxName}${more}`;
  const hint = `choose a name of at most ${longest} bytes`;
  throw new UsageError("name_too_long", message, { hint });
}

interface PostgresAddress extends TableAddress {
  /** Without `table`. It may contain a password: pass it only to the driver. */
  readonly url: string;
}

/**
 * Parses the address of a table: `postgres://user:password@host:port/database?table=NAME`. Other known
 * parameters go to the driver.
 */
function parseAddress(name: string): PostgresAddress | null {
  if (!/^postgres(?:ql)?:/i.test(name)) return null;
  const address = readUrl(name);
  const hint =
    "write ?table=NAME after the database, then &sslmode=… and other connection parameters";
  checkParameters(address.searchParams, parameters, "the PostgreSQL address", hint);
  const table = postgres.parseTable(address.searchParams.get("table") ?? defaultTable);
  address.searchParams.delete("table");
  const { href: url, host, pathname, username } = address;
  const user = username === "" ? "" : `${username}@`;
  const words = [host, pathname.slice(1), tableText(table)].filter((word) => word !== "");
  return {
    dialect: postgres,
    url,
    place: `postgres://${user}${host}${pathname}`,
    table,
    database: null,
    parts: { before: "", file: "", after: name },
    base: (stateDir) => serverBase(words.join("-"), stateDir),
    transact: async (options, work) =>
      (await import("./database.js")).transactInPostgres(postgres, url, options, work),
  };
}

/** Never show the address: a password may be anywhere in it. */
function readUrl(name: string): URL {
  const hint =
    "write postgres://USER@HOST/DATABASE?table=NAME and percent-encode special characters";
  const refused = (what: string): UsageError =>
    new UsageError("bad_output", `the PostgreSQL address ${what}`, { hint });
  // Without the cause, which would show the address.
  if (!URL.canParse(name)) throw refused("is not a valid URL");
  const url = new URL(name);
  // An unencoded # or / in a password ends the host early, so the rest must stay hidden too.
  if (url.hash !== "" || url.pathname.includes("@") || url.search.includes("@")) {
    throw refused("has an unexpected part after the host");
  }
  return url;
}

/** Parameters that reach the server or the driver. */
const parameters = [
  "table",
  "host",
  "port",
  "user",
  "password",
  "options",
  "application_name",
  "fallback_application_name",
  "client_encoding",
  "sslmode",
  "sslcert",
  "sslkey",
  "sslrootcert",
  "sslnegotiation",
] as const;
