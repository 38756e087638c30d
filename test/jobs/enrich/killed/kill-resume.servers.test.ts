import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect } from "vitest";
import { comparableRows } from "../../../helpers/comparable-rows.js";
import { PostgresCluster } from "../../../helpers/postgres-cluster.js";
import {
  describeKills,
  earlierRows,
  items,
  type KilledOutput,
  rows,
} from "../../../helpers/survive-kills.js";
import { rowsWithoutTimes } from "../../../helpers/warehouse-run.js";
import { startObjectStore } from "../../../io/output/object/object-store.js";
import { queryDuckdb } from "../../../io/output/tables/warehouse-readers.js";

const [cluster, store] = await Promise.all([PostgresCluster.start(), startObjectStore()]);
afterAll(() => Promise.all([cluster.stop(), store.close()]));

const table = (mode: string, length: number): KilledOutput => ({
  length,
  output: (place) => cluster.url({ password: null, parameters: { table: `${mode}_${place}` } }),
  args: ["--mode", mode],
  isTable: true,
  env: { PGPASSWORD: cluster.password },
  read: async (_, place) => {
    const name = `${mode}_${place}`;
    const counts = await cluster.counts(name);
    expect(counts.keys).toBe(counts.rows);
    const columns = "rep_run_id rep_loaded_at rep_source rep_looked_up_at".split(" ");
    const others = columns.map((column) => `- '${column}'`).join(" ");
    return cluster.query(`SELECT to_jsonb(t) ${others} AS row FROM ${name} AS t ORDER BY rep_row`);
  },
});

const object = (extension: string, length: number): KilledOutput => ({
  length,
  output: (place) => `s3://lake/${place}.${extension}`,
  env: store.env,
  read: async (cwd, place) => {
    const bytes = await store.get(`${place}.${extension}`);
    if (extension === "csv") return comparableRows(bytes, extension);
    const file = join(cwd, "read.parquet");
    await writeFile(file, bytes);
    return queryDuckdb(rowsWithoutTimes(`read_parquet('${file}')`));
  },
});

describeKills([
  ["PostgreSQL, append", table("append", earlierRows + rows)],
  ["PostgreSQL, merge", table("merge", items)],
  ["PostgreSQL, replace", table("replace", rows)],
  ["a CSV object", object("csv", 1 + rows)],
  ["a Parquet object", object("parquet", rows)],
]);
