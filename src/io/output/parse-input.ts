import { UsageError } from "../../core/errors.js";
import { type FileInput, fileInput } from "../input/types.js";
import { parquetOutput } from "./parquet/output.js";
import { databases } from "./registry.js";
import { namesTable, type TableAddress, tableInput } from "./sql/table-output.js";
import type { TableInput } from "../input/table-input.js";
import type { Selection } from "./sql/table-database.js";

/**
 * Parses the name of an input: a file, an object, or a table: `FILE.parquet`, or `duckdb:FILE` or
 * `postgres://…` with `?table=NAME` or `?query=SELECT…`.
 *
 * @throws UsageError `bad_table_input`; as `parseOutput`
 */
export function parseInput(name: string): FileInput {
  const file = fileInput(name);
  const table = findTable(file);
  return table === null ? file : { ...file, table };
}

function findTable({ path: name, isObject = false }: FileInput): TableInput | null {
  if (isObject && !/\.parquet(?:\.failed)?$/i.test(name)) return null;
  const parquet = isObject ? { file: null } : parquetOutput(name);
  if (parquet !== null) {
    const { file } = parquet;
    return {
      kind: "parquet",
      name,
      file,
      isTable: false,
      async copy(to, options) {
        const { copyParquet, copyParquetObject } = await import("./parquet/read.js");
        return (isObject ? copyParquetObject : copyParquet)(name, to, options);
      },
    };
  }
  const { place, query } = takeQuery(name);
  for (const { dialect, parse } of databases) {
    const address = parse(place);
    if (address !== null) return tableInput(dialect, address, selectionOf(place, query, address));
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
  const query = /\s/.test(given) ? given : decoded(given);
  return { place, query: query.replace(/[\s;]+$/, "") };
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
  { table, place, form }: TableAddress,
): Selection {
  const hasTable = namesTable(address);
  if (hasTable && query === null) return { table };
  if (!hasTable && query !== null && query.trim() !== "") return { query };
  const fault =
    query === null ? "no table" : hasTable ? "both a table and a query" : "an empty query";
  throw new UsageError("bad_table_input", `the input ${place} names ${fault}`, {
    hint: `write '${form}?table=NAME' or '${form}?query=SELECT …', in quotes`,
  });
}
