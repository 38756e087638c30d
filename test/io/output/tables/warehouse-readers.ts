import { DuckDBInstance, DuckDBListValue, DuckDBTimestampTZValue } from "@duckdb/node-api";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

/** Values as all readers return them: times as microseconds, counts as bigint, lists as arrays. */
export type ReadRow = Readonly<Record<string, unknown>>;

/** Reads a file with hyparquet. */
export async function readParquet(file: string): Promise<readonly ReadRow[]> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors });
  return rows.map((row) => mapValues(row, plain));
}

const memory = ":memory:";

/** Opening one takes longer than most queries. */
const inMemory = DuckDBInstance.create(memory);

/** Reads with a DuckDB query over a database file, or over Parquet files with `read_parquet`. */
export async function queryDuckdb(sql: string, file = memory): Promise<readonly ReadRow[]> {
  const instance = file === memory ? await inMemory : await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    const result = await connection.runAndReadAll(sql);
    return result.getRowObjects().map((row) => mapValues(row, plain));
  } finally {
    connection.closeSync();
    if (file !== memory) instance.closeSync();
  }
}

function mapValues(row: ReadRow, change: (value: unknown) => unknown): ReadRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, change(value)]));
}

function plain(value: unknown): unknown {
  // hyparquet returns undefined for a null list.
  if (value === undefined) return null;
  if (value instanceof Date) return BigInt(value.getTime()) * 1000n;
  if (value instanceof DuckDBTimestampTZValue) return value.micros;
  if (value instanceof DuckDBListValue) return [...value.items];
  return value;
}
