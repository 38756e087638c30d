import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect } from "vitest";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import {
  describeKills,
  earlierRows,
  items,
  type KilledOutput,
  rows,
} from "../../../helpers/survive-kills.js";
import { countOf, rowsWithoutTimes } from "../../../helpers/warehouse-run.js";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";

const textFile = (file: string, length = rows): KilledOutput => ({
  length,
  output: () => file,
  read: async (cwd) => comparableRows(await readFile(join(cwd, file)), file),
});

const documents = (file: string, to: string, length: number): KilledOutput => ({
  length,
  output: () => file,
  args: ["--to", to],
  read: async (cwd) => documentsOf(gunzipSync(await readFile(join(cwd, file))), to),
});

const duckdb = (mode: string, length: number): KilledOutput => ({
  length,
  output: () => "duckdb:out.duckdb?table=nightly",
  args: ["--mode", mode],
  isTable: true,
  read: async (cwd) => {
    const file = join(cwd, "out.duckdb");
    const [counts] = await queryDuckdb(countOf("nightly"), file);
    expect(counts?.["keys"]).toBe(counts?.["n"]);
    return queryDuckdb(rowsWithoutTimes("nightly"), file);
  },
});

const outputs: readonly (readonly [name: string, output: KilledOutput])[] = [
  ["CSV", textFile("out.csv", 1 + rows)],
  ["CSV.gz", textFile("out.csv.gz", 1 + rows)],
  ["NDJSON.gz of NDJSON", { ...textFile("out.ndjson.gz"), input: "in.ndjson" }],
  ["es-bulk", documents("out.ndjson.gz", "es-bulk", 2 * rows)],
  ["STIX", documents("out.json.gz", "stix", 1)],
  [
    "Parquet",
    {
      length: rows,
      output: () => "out.parquet",
      read: (cwd) => queryDuckdb(rowsWithoutTimes(`read_parquet('${cwd}/out.parquet')`)),
    },
  ],
  ["DuckDB, append", duckdb("append", earlierRows + rows)],
  ["DuckDB, merge", duckdb("merge", items)],
  ["DuckDB, replace", duckdb("replace", rows)],
];

describeKills(outputs);

/** Without what may differ: time and source of an answer, and the bundle's own name. */
function documentsOf(bytes: Buffer, to: string): readonly unknown[] {
  const text = bytes
    .toString()
    .replace(/"bundle--[^"]+"/, '"bundle"')
    .replaceAll(/"source":"(?:live|duplicate)"/g, '"source":""')
    .replaceAll(/"(@timestamp|looked_up_at|modified)":"[^"]*"/g, '"$1":""')
    .replaceAll(/"time":\d+/g, '"time":0');
  return (to === "stix" ? [text] : text.trimEnd().split("\n")).map((document): unknown =>
    JSON.parse(document),
  );
}
