import { UsageError } from "../../../core/errors.js";
import { serverBase } from "../output.js";
import { defaultTable, tableText } from "../sql/dialect.js";
import { postgres } from "./dialect.js";
import { checkParameters, type DatabaseKind, type TableAddress } from "../sql/tables.js";

/**
 * Tables of PostgreSQL: `postgres://user:password@host:port/database?table=NAME`. Other known
 * parameters go to the driver.
 */
export const postgresTables = { dialect: postgres, parse } satisfies DatabaseKind;

interface PostgresAddress extends TableAddress {
  /** Without `table`. It may contain a password: pass it only to the driver. */
  readonly url: string;
}

function parse(name: string): PostgresAddress | null {
  if (!/^postgres(?:ql)?:/i.test(name)) return null;
  const address = readUrl(name);
  checkParameters(address.searchParams, {
    known: parameters,
    name: "the PostgreSQL address",
    hint: "write ?table=NAME after the database, then &sslmode=… and other connection parameters",
  });
  const table = postgres.parseTable(address.searchParams.get("table") ?? defaultTable);
  address.searchParams.delete("table");
  const { href: url, host, pathname, username } = address;
  const user = username === "" ? "" : `${username}@`;
  const words = [host, pathname.slice(1), tableText(table)].filter((word) => word !== "");
  return {
    url,
    place: `postgres://${user}${host}${pathname}`,
    form: "postgres://USER@HOST/DATABASE",
    table,
    database: null,
    parts: { before: "", file: "", after: name },
    base: (stateDir) => serverBase(words.join("-"), stateDir),
    connect: async (shown, options) =>
      new (await import("./database.js")).PostgresDatabase(url, shown, options),
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
