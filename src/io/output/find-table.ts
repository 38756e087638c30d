import { UsageError } from "../../core/errors.js";
import { isObjectAddress } from "../object/address.js";
import { tableText } from "./sql/dialect.js";
import {
  type DuckdbTarget,
  parseDuckdbTarget,
  parseParquetTarget,
  parsePostgresTarget,
  type PostgresTarget,
} from "./warehouse/target.js";
import type { Selection, TableInput } from "./tables/types.js";

/**
 * The table that an input names: `FILE.parquet`, or `duckdb:FILE` or `postgres://…` with `?table=NAME` or
 * `?query=SELECT…`. Null for anything else.
 */
export function findTable(name: string): TableInput | null {
  const isObject = isObjectAddress(name);
  if (isObject && !/\.parquet(?:\.failed)?$/i.test(name)) return null;
  const parquet = isObject ? { file: null } : parseParquetTarget(name);
  if (parquet !== null) {
    const { file } = parquet;
    return {
      kind: "parquet",
      name,
      file,
      async read(receiver, options) {
        const { readParquetObject, readParquetTable } = await import("./parquet/read-table.js");
        return (isObject ? readParquetObject : readParquetTable)(name, receiver, options);
      },
    };
  }
  const { address, query } = takeQuery(name);
  const target = parseDuckdbTarget(address) ?? parsePostgresTarget(address);
  return target && databaseInput(target, selectionOf(address, query, target));
}

/** A selection from a database. */
export function databaseInput(
  target: DuckdbTarget | PostgresTarget,
  selection: Selection,
): TableInput {
  const named = { ...target, display: displayOf(target.display, selection) };
  const { kind, file, display } = named;
  return {
    kind,
    name: display,
    file,
    async read(receiver, options) {
      const reading = { selection, receiver, ...options };
      if (named.kind === "duckdb") {
        return (await import("./duckdb/read-table.js")).readDuckdbTable(named, reading);
      }
      return (await import("./postgres/read-table.js")).readPostgresTable(named, reading);
    },
  };
}

/**
 * Splits off the query, which extends to the end of the address. It is SQL as typed; without white
 * space, which every query has, it is percent-encoded.
 */
function takeQuery(name: string): { readonly address: string; readonly query: string | null } {
  const parts = /^(duckdb:|postgres(?:ql)?:)([^]*?)[?&]query=([^]*)$/i.exec(name);
  if (parts === null) return { address: name, query: null };
  const [, scheme = "", place = "", given = ""] = parts;
  const query = /\s/.test(given) ? given : decoded(given);
  return { address: scheme + place, query: query.replace(/[\s;]+$/, "") };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

function selectionOf(
  address: string,
  query: string | null,
  { table, display, kind }: DuckdbTarget | PostgresTarget,
): Selection {
  const namesTable = /[?&]table=/i.test(address);
  if (namesTable && query === null) return { table };
  if (!namesTable && query !== null && query.trim() !== "") return { query };
  const fault =
    query === null ? "no table" : namesTable ? "both a table and a query" : "an empty query";
  const form = kind === "duckdb" ? "duckdb:FILE" : "postgres://USER@HOST/DATABASE";
  throw new UsageError("bad_table_input", `the input ${placeOf(display)} names ${fault}`, {
    hint: `write '${form}?table=NAME' or '${form}?query=SELECT …', in quotes`,
  });
}

function placeOf(display: string): string {
  return display.replace(/\?table=[^]*$/, "");
}

function displayOf(display: string, selection: Selection): string {
  if ("table" in selection) return `${placeOf(display)}?table=${tableText(selection.table)}`;
  return `${placeOf(display)}?query=${selection.query.replaceAll(/\s+/g, " ")}`;
}
