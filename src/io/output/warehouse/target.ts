import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { realPath } from "../../../core/files/real-path.js";
import {
  defaultTable,
  parsePostgresTable,
  parseTableName,
  type TableName,
  tableText,
} from "../sql/dialect.js";
import { withoutFailed } from "../../../core/files/output-names.js";

export interface WarehouseTarget {
  readonly kind: string;
  /** Name for messages and the manifest, without a password. */
  readonly display: string;
  /** The file that holds it, symbolic links resolved; null for a server. */
  readonly file: string | null;
  /** Path prefix of the run's own files: `BASE.state/`, `BASE.manifest.json`. */
  readonly base: string;
}

export interface ParquetTarget extends WarehouseTarget {
  readonly kind: "parquet";
  readonly file: string;
}

export interface TableTarget extends WarehouseTarget {
  readonly kind: "duckdb" | "postgres";
  readonly table: TableName;
}

export interface DuckdbTarget extends TableTarget {
  readonly kind: "duckdb";
  readonly file: string;
}

export interface PostgresTarget extends TableTarget {
  readonly kind: "postgres";
  readonly file: null;
  /** The address without `table`. It may contain a password: pass it only to the driver. */
  readonly url: string;
}

export function parseParquetTarget(output: string): ParquetTarget | null {
  if (addressScheme(output) !== null) return null;
  const name = withoutFailed(output).toLowerCase();
  if (name.endsWith(".parquet.gz")) {
    throw new UsageError("parquet_gzip", `${output}: Parquet files are already compressed`, {
      hint: "remove .gz from the name",
    });
  }
  if (!name.endsWith(".parquet")) return null;
  const file = realPath(output);
  return { kind: "parquet", file, display: output, base: file };
}

export function parseDuckdbTarget(output: string): DuckdbTarget | null {
  if (!/^duckdb:/i.test(output)) {
    if (!/\.(?:duckdb|ddb)$/i.test(output)) return null;
    throw new UsageError("bad_output", `${output} names a database file without a table`, {
      hint: `write duckdb:${output}?table=${defaultTable}`,
    });
  }
  const [path = "", query] = output.slice("duckdb:".length).split(/\?(.*)/s);
  const options = new URLSearchParams(query);
  const hint = "write duckdb:FILE?table=NAME";
  if (path === "" || path === ":memory:") {
    throw new UsageError("bad_output", `${output} does not name a DuckDB file`, { hint });
  }
  checkParameters(options, { known: ["table"], display: `duckdb:${path}`, hint });
  const table = parseTableName(options.get("table") ?? defaultTable);
  const file = realPath(path);
  return {
    kind: "duckdb",
    file,
    table,
    display: `duckdb:${path}?table=${tableText(table)}`,
    // One base per table: names ignore case, and `main` is the default schema.
    base: `${file}.${fileWord(
      tableText(table)
        .toLowerCase()
        .replace(/^main\.(?=.)/, ""),
    )}`,
  };
}

/**
 * Parses `postgres://user:password@host:port/database?table=NAME`, or returns null. Other known
 * parameters go to the driver. The run's own files are kept in the working directory.
 */
export function parsePostgresTarget(output: string): PostgresTarget | null {
  if (!/^postgres(?:ql)?:/i.test(output)) return null;
  const url = readUrl(output);
  checkParameters(url.searchParams, {
    known: postgresParameters,
    display: "the PostgreSQL address",
    hint: "write ?table=NAME after the database, then &sslmode=… and other connection parameters",
  });
  const table = parsePostgresTable(url.searchParams.get("table") ?? defaultTable);
  url.searchParams.delete("table");
  const place = `${url.host}${url.pathname}`;
  const user = url.username === "" ? "" : `${url.username}@`;
  const words = [url.host, url.pathname.slice(1), tableText(table)].filter((word) => word !== "");
  return {
    kind: "postgres",
    file: null,
    url: url.href,
    table,
    display: `postgres://${user}${place}?table=${tableText(table)}`,
    base: resolve(`repute-${fileWord(words.join("-"))}`),
  };
}

export function namesTable<T extends TableTarget>(output: string, target: T | null): T | null {
  if (target === null || /[?&]table=/i.test(output)) return target;
  const [place = ""] = target.display.split("?", 1);
  throw new UsageError("bad_output", `${place} names a database without a table`, {
    hint: `add a table, in quotes: '${target.display}'`,
  });
}

/** The scheme of an address in lower case (`mysql` of `mysql://…`); null for a path. */
export function addressScheme(output: string): string | null {
  // A single letter is a Windows drive.
  return /^([a-z][a-z0-9+.-]+):/i.exec(output)?.[1]?.toLowerCase() ?? null;
}

/** Never show the address: a password may be anywhere in it. */
function readUrl(output: string): URL {
  const hint =
    "write postgres://USER@HOST/DATABASE?table=NAME and percent-encode special characters";
  const refused = (what: string): UsageError =>
    new UsageError("bad_output", `the PostgreSQL address ${what}`, { hint });
  // Without the cause, which would show the address.
  if (!URL.canParse(output)) throw refused("is not a valid URL");
  const url = new URL(output);
  // An unencoded # or / in a password ends the host early, so the rest must stay hidden too.
  if (url.hash !== "" || url.pathname.includes("@") || url.search.includes("@")) {
    throw refused("has an unexpected part after the host");
  }
  return url;
}

/** A file name for a text. A hash keeps texts apart whose characters were replaced. */
function fileWord(text: string): string {
  const word = text.replace(/[^A-Za-z0-9._-]+/g, "_").slice(0, 120);
  if (word === text) return word;
  return `${word}-${createHash("sha256").update(text).digest("hex").slice(0, 8)}`;
}

interface ParameterRules {
  readonly known: readonly string[];
  /** Name of the address for messages, without a password. */
  readonly display: string;
  readonly hint: string;
}

function checkParameters(
  parameters: URLSearchParams,
  { known, display, hint }: ParameterRules,
): void {
  const names = [...parameters.keys()];
  const wrong = names.find((name, at) => !known.includes(name) || names.indexOf(name) < at);
  if (wrong === undefined) return;
  // After an unencoded password, the name may be part of it.
  const name = names.some((each) => each.endsWith("password")) ? "" : ` ${JSON.stringify(wrong)}`;
  const what = known.includes(wrong) ? "a repeated" : "an unknown";
  throw new UsageError("bad_output", `${display} has ${what} parameter${name}`, { hint });
}

/** Parameters of a PostgreSQL address that reach the server or the driver. */
const postgresParameters = [
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
