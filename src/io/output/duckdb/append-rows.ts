import type * as driverModule from "@duckdb/node-api";
import type { DuckDBAppender, DuckDBConnection, DuckDBValue } from "@duckdb/node-api";
import { decimalDigits, isDecimal } from "../../formats/stored-types.js";
import type { CellValue, StoredType, TypedColumn } from "../../formats/typed-column.js";
import { FatalError } from "../../../core/errors.js";
import type { ColumnBatch } from "../row-cells.js";
import { duckdb } from "./dialect.js";
import type { Batches } from "../sql/table-database.js";
import { quoteIdentifier, sqlType, type TableName } from "../sql/dialect.js";

export type DuckdbDriver = typeof driverModule;

/** Temporary table for loading, so that the target table can have other columns in any order. */
const staging = { schema: "temp", name: "repute_staging" } as const satisfies TableName;

interface AppendedRows {
  /** A table that has exactly these columns, or null to make a temporary one. */
  readonly table: TableName | null;
  readonly columns: readonly TypedColumn[];
  readonly batches: Batches;
  /** Name of the target in messages. */
  readonly name: string;
}

/** Appends rows. Errors are those of DuckDB. @returns the table that has them */
export async function appendRows(
  driver: DuckdbDriver,
  connection: DuckDBConnection,
  { table, columns, batches, name }: AppendedRows,
): Promise<TableName> {
  const appender =
    table === null
      ? await createStaging(connection, columns)
      : await connection.createAppender(table.name, table.schema);
  const types = columns.map((_, index) => appender.columnType(index));
  // Reused, because the chunk's memory is outside the JavaScript heap and not garbage collected in
  // time.
  const chunk = driver.DuckDBDataChunk.create(types);
  for await (const batch of limited(batches, name)) {
    chunk.reset();
    chunk.rowCount = batch.rows;
    columns.forEach(({ type }, index) => {
      chunk.setColumnValues(index, valuesOf(driver, type, batch.columns[index]!));
    });
    appender.appendDataChunk(chunk);
    // The appender keeps up to 204,800 rows outside DuckDB's memory limit.
    appender.flushSync();
  }
  appender.closeSync();
  return table ?? staging;
}

async function createStaging(
  connection: DuckDBConnection,
  columns: readonly TypedColumn[],
): Promise<DuckDBAppender> {
  const { schema, name } = staging;
  const definitions = columns.map(
    (column) => `${quoteIdentifier(duckdb, column.name)} ${sqlType(duckdb, column.type)}`,
  );
  await connection.run(`CREATE TEMPORARY TABLE ${name} (${definitions.join(", ")})`);
  return connection.createAppender(name, "main", schema);
}

/**
 * DuckDB reads and writes rows in vectors of this many, whatever their size: 2,048 rows of a
 * megabyte take two gigabytes, in a checkpoint and in every later query.
 */
const vectorRows = 2_048;

/** Characters in a vector from which it is too large. */
const largeVector = 32 * 1024 * 1024;

/** Refuses batches that would make vectors that are too large. */
async function* limited(batches: Batches, name: string): AsyncGenerator<ColumnBatch> {
  let [rows, characters] = [0, 0];
  for await (const batch of batches) {
    if (rows + batch.rows > vectorRows) rows = characters = 0;
    rows += batch.rows;
    characters += batch.characters;
    if (characters > largeVector) {
      const kilobytes = Math.round(characters / rows / 1024);
      throw new FatalError(
        "output_memory",
        `cannot write ${name}: its rows have ${kilobytes} KB on average, and DuckDB holds ${vectorRows} of them in memory`,
        { hint: "write such rows to Parquet or PostgreSQL; with --cache nothing is asked again" },
      );
    }
    yield batch;
  }
}

function valuesOf(
  driver: DuckdbDriver,
  type: StoredType,
  values: readonly CellValue[],
): readonly DuckDBValue[] {
  const make = makerOf(driver, type);
  if (make === null) return values as readonly (string | bigint | number | boolean | null)[];
  return values.map((value) => (value === null ? null : make(value)));
}

/** What makes the driver's value of a cell; null if the cell is one. */
function makerOf(
  driver: DuckdbDriver,
  type: StoredType,
): ((cell: NonNullable<CellValue>) => DuckDBValue) | null {
  if (isDecimal(type)) {
    const { precision, scale } = decimalDigits(type);
    return (cell) => new driver.DuckDBDecimalValue(cell as bigint, precision, scale);
  }
  const makers: Partial<Record<StoredType, (cell: NonNullable<CellValue>) => DuckDBValue>> = {
    timestamp: (cell) => new driver.DuckDBTimestampTZValue(cell as bigint),
    timestamp_local: (cell) => new driver.DuckDBTimestampValue(cell as bigint),
    timestamp_ns_local: (cell) => new driver.DuckDBTimestampNanosecondsValue(cell as bigint),
    date: (cell) => new driver.DuckDBDateValue(cell as number),
    uuid: (cell) =>
      driver.DuckDBUUIDValue.fromUint128(BigInt(`0x${String(cell).replaceAll("-", "")}`)),
    "text[]": (cell) => new driver.DuckDBListValue(cell as readonly string[]),
  };
  return makers[type] ?? null;
}
