import { createHash } from "node:crypto";
import { basename, join, resolve } from "node:path";
import { unescape } from "node:querystring";
import { UsageError } from "../../core/errors.js";
import { realPath } from "../../core/files/folders.js";
import { namedAfter, sharedPath, withoutFailed } from "../../core/files/output-names.js";
import { detectSinkFormat } from "../formats/registry.js";
import type { TableInput } from "../input/table-input.js";
import type { FileInput } from "../input/types.js";
import { isObjectAddress, objectAddress, parseObjectAddress } from "../s3/address.js";
import { duckdb } from "./duckdb/dialect.js";
import { type KindOutput, type Output, type ParseKind } from "./output.js";
import { postgres } from "./postgres/dialect.js";
import { bigquery } from "./sql/bigquery.js";
import {
  type Dialect,
  quoteTable,
  type SchemaDialect,
  type TableAddress,
  tableText,
} from "./sql/dialect.js";
import { parquetRules } from "./typed/table-schema.js";

// What they need is loaded on demand: most runs write text files.
/** All databases. To add one, write its folder and add it here. */
const databases: readonly Dialect[] = [postgres, duckdb];

/** The databases that `repute schema` describes tables for. */
export const dialects: readonly SchemaDialect[] = [...databases, bigquery];

/** All outputs but text. To add one that is no database, write its folder and add it here. */
const kinds: readonly ParseKind[] = [parquetOutput, ...databases.map(tableOutput)];

/**
 * Parses the name of an output: `-o`, or an operand.
 *
 * @param use a table that is read may have `run=ID` among its parameters
 * @throws UsageError `unknown_output`, `bad_output`, `bad_table`, `bad_object_address`, `parquet_gzip`
 */
export function parseOutput(given: string, use: "write" | "read" = "write"): Output {
  const parts = use === "read" ? /^([a-z]+:.*[?&])run=([^&]*)&?(.*)$/i.exec(given) : null;
  if (parts === null) return outputOf(given, null);
  const [, before = "", run = "", after = ""] = parts;
  const name = (before + after).replace(/[?&]$/, "");
  return { ...outputOf(name, null), given, run: decodeURIComponent(run) };
}

function outputOf(name: string, pattern: Output | null): Output {
  const found = parseKind(name, pattern?.given ?? name);
  const output: Output = {
    gzip: false,
    isStdout: false,
    isText: false,
    rules: null,
    database: null,
    object: null,
    parts: { before: "", file: name, after: "" },
    records: null,
    ...found,
    isTable: found.records !== undefined,
    given: name,
    run: null,
    pattern,
    named: (run) => outputOf(namedAfter(name, run), output),
  };
  return output;
}

/** @param pattern the name with its words, if it is named after a run */
function parseKind(name: string, pattern: string): KindOutput {
  if (isObjectAddress(name)) return objectOutput(name, pattern);
  for (const kind of kinds) {
    const found = kind(name);
    if (found !== null) return found;
  }
  // A single letter is a Windows drive.
  const [scheme] = /^[a-z][a-z0-9+.-]+:/i.exec(name) ?? [];
  if (scheme === undefined) return textOutput(name);
  // Don't print the address: it may contain a password.
  throw new UsageError("unknown_output", `cannot write to ${scheme.toLowerCase()} addresses`, {
    hint: "write to a file, FILE.parquet, s3://BUCKET/KEY, duckdb:FILE?table=NAME or postgres://…?table=NAME; to use a file name with a colon, write ./NAME",
  });
}

/** A text file, a device, or `-` for stdout. */
function textOutput(name: string): KindOutput {
  const base = (): string => realPath(sharedPath(name));
  const publisher: KindOutput["publisher"] = async (options) =>
    options.text?.format === "stix"
      ? (await import("./stix/publish.js")).stixPublisher(options)
      : (await import("./text/text-sink.js")).textPublisher(options);
  const kind = { base, publisher, isText: true };
  if (name === "-") return { ...kind, name: "stdout", isStdout: true, format: null, file: null };
  return { ...kind, name, ...detectSinkFormat(withoutFailed(name)), file: realPath(name) };
}

/** Whether a name is that of a Parquet file, or object. @throws UsageError `parquet_gzip` */
function isParquet(name: string): boolean {
  const plain = withoutFailed(name).toLowerCase();
  if (plain.endsWith(".parquet.gz") && !isObjectAddress(name)) {
    throw new UsageError("parquet_gzip", `${name}: Parquet files are already compressed`, {
      hint: "remove .gz from the name",
    });
  }
  return plain.endsWith(".parquet");
}

/** A Parquet file. */
function parquetOutput(name: string): KindOutput | null {
  // An address is another kind; a single letter is a Windows drive.
  if (/^[a-z][a-z0-9+.-]+:/i.test(name) || !isParquet(name)) return null;
  return {
    name,
    format: "parquet",
    rules: parquetRules,
    file: realPath(name),
    base: () => realPath(sharedPath(name)),
    publisher: async (options) => (await import("./parquet/publish.js")).parquetPublisher(options),
  };
}

/** The outputs of a database. */
function tableOutput(dialect: Dialect): ParseKind {
  return (given): KindOutput | null => {
    const address = dialect.parseAddress(given);
    if (address === null) return null;
    const { place, table, database, parts, base } = address;
    const name = `${place}?table=${tableText(table)}`;
    if (!namesTable(given)) {
      throw new UsageError("bad_output", `${place} names a database without a table`, {
        hint: `add a table, in quotes: '${name}'`,
      });
    }
    return {
      name,
      format: dialect.name,
      rules: dialect.rules,
      file: null,
      database,
      parts,
      base,
      publisher: async (options) =>
        (await import("./sql/publish.js")).tablePublisher(address, options),
      record: async (manifest) =>
        (await import("./sql/publish.js")).recordAgain(address, name, manifest),
      async records(rows) {
        const { readRun } = await import("./sql/read.js");
        return readRun(address, name, rows, (query) => tableInput(address, query));
      },
    };
  };
}

/** The rows of a query, or those of the table that the address names. */
function tableInput(address: TableAddress, query: string | null): TableInput {
  const { dialect, place, database: file, table } = address;
  const selected =
    query === null ? `table=${tableText(table)}` : `query=${query.replaceAll(/\s+/g, " ")}`;
  const name = `${place}?${selected}`;
  const selection =
    query === null
      ? { query: `SELECT * FROM ${quoteTable(dialect, table)}`, isOwn: false }
      : { query, isOwn: true };
  return {
    kind: dialect.name,
    name,
    file,
    isTable: true,
    copy: (to, options) =>
      address.transact({ ...options, name, access: "read" }, ({ copy }) => copy(selection, to)),
  };
}

function namesTable(address: string): boolean {
  return /[?&]table=/i.test(address);
}

/** A file that is uploaded to object storage. @throws UsageError `bad_object_address` */
function objectOutput(name: string, pattern: string): KindOutput {
  // The name with the words that stand for a run is that of the folder of all runs.
  const { bucket, key } = parseObjectAddress(pattern);
  const hash = createHash("sha256").update(objectAddress({ bucket, key })).digest("hex");
  const word = `${bucket}-${basename(key)}`.replaceAll(/[^A-Za-z0-9._-]+/g, "_").slice(0, 80);
  const folder = resolve(`repute-s3-${word}-${hash.slice(0, 8)}`);
  const path = join(folder, basename(parseObjectAddress(name).key));
  const [before = ""] = /^s3:\/\/[^/]*\//i.exec(name) ?? [];
  const parts = { before, file: name.slice(before.length), after: "" };
  return { ...parseKind(path, path), name, object: { address: name, folder, path }, parts };
}

/**
 * Parses the name of an input: a file, an object, or a table: `FILE.parquet`, or `duckdb:FILE` or
 * `postgres://…` with `?table=NAME` or `?query=SELECT…`.
 *
 * @throws UsageError `bad_table_input`; as `parseOutput`
 */
export function parseInput(name: string): FileInput {
  const isObject = isObjectAddress(name);
  const table = isObject && !isParquet(name) ? null : findTable(name, isObject);
  return table === null ? { path: name } : { path: name, table };
}

function findTable(name: string, isObject: boolean): TableInput | null {
  if (isObject || parquetOutput(name) !== null) {
    return {
      kind: "parquet",
      name,
      file: isObject ? null : realPath(name),
      isTable: false,
      async copy(...to) {
        return (await import("./parquet/read.js")).copyParquet(name, ...to);
      },
    };
  }
  const { place, query } = takeQuery(name);
  for (const dialect of databases) {
    const address = dialect.parseAddress(place);
    if (address === null) continue;
    const hasTable = namesTable(place);
    if (hasTable && query === null) return tableInput(address, null);
    if (!hasTable && query !== null && query.trim() !== "") {
      return tableInput(address, query);
    }
    const names = hasTable ? "both a table and a query" : "an empty query";
    const fault = `the input ${address.place} names ${query === null ? "no table" : names}`;
    throw new UsageError("bad_table_input", fault, {
      hint: `write '${address.place}?table=NAME' or '${address.place}?query=SELECT …', in quotes`,
    });
  }
  return null;
}

/**
 * Splits off the query, which extends to the end of the address. It is SQL as typed; without white
 * space, which every query has, it is percent-encoded.
 */
function takeQuery(name: string): { readonly place: string; readonly query: string | null } {
  const parts = /^([a-z]{2,}:[^]*?)[?&]query=([^]*)$/i.exec(name);
  if (parts === null) return { place: name, query: null };
  const [, place = "", given = ""] = parts;
  const query = /\s/.test(given) ? given : unescape(given.replaceAll("+", " "));
  return { place, query: query.replace(/[\s;]+$/, "") };
}
