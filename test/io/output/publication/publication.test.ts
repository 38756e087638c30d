import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { describePublication, describeTypedColumns, type PublicationPlace } from "./publication.js";
import { queryDuckdb, type ReadRow, readParquet } from "../tables/warehouse-readers.js";

const parquet = (folder: string): string => join(folder, "out.parquet");

const typed: readonly PublicationPlace[] = [
  {
    name: "parquet, read by hyparquet",
    output: parquet,
    read: async (folder) => (existsSync(parquet(folder)) ? readParquet(parquet(folder)) : []),
    appends: false,
  },
  {
    name: "parquet, read by DuckDB",
    output: parquet,
    read: async (folder) =>
      existsSync(parquet(folder))
        ? queryDuckdb(`FROM read_parquet('${parquet(folder)}') ORDER BY rep_row`)
        : [],
    appends: false,
  },
  {
    name: "duckdb",
    output: (folder) => `duckdb:${join(folder, "out.duckdb")}?table=enriched`,
    read: async (folder) =>
      existsSync(join(folder, "out.duckdb"))
        ? queryDuckdb("FROM enriched ORDER BY rep_run_id, rep_row", join(folder, "out.duckdb"))
        : [],
    appends: true,
  },
];

/** The records of a text, each of one line. */
const text = (name: string, lineOf: (lines: readonly string[]) => readonly ReadRow[]) => ({
  name,
  output: (folder: string) => join(folder, `out.${name}`),
  read: async (folder: string) => {
    const file = join(folder, `out.${name}`);
    if (!existsSync(file)) return [];
    const bytes = await readFile(file);
    return lineOf(
      (name.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString().split("\n").slice(0, -1),
    );
  },
  appends: false,
});

const delimited = (delimiter: string) => (lines: readonly string[]) => {
  expect(lines[0]).toContain(`ip${delimiter}rep_item${delimiter}`);
  return parse(lines.join("\n"), { columns: true, delimiter }) as readonly ReadRow[];
};

const objects = (lines: readonly string[]) => lines.map((line) => JSON.parse(line) as ReadRow);

describePublication(text("csv", delimited(",")));
// Compression does not depend on the format.
describePublication(text("csv.gz", delimited(",")));
describePublication(text("tsv", delimited("\t")));
describePublication(text("ndjson", objects));
const documents = (lines: readonly string[]) =>
  objects(lines).flatMap(({ repute }) =>
    repute === undefined ? [] : [(repute as Document).input],
  );

interface Document {
  readonly input: ReadRow;
}

describePublication(text("es-bulk", documents));

// The contract reads Parquet with one reader; columns are read with both.
for (const place of typed.slice(1)) describePublication(place);
for (const place of typed) describeTypedColumns(place);
