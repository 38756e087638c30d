import type { CellValue, TypedColumn } from "./typed-column.js";
import type * as parquetWriter from "hyparquet-writer";
import type { KeyValue, RowGroup, SchemaElement } from "hyparquet";
import type { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { programInfo } from "../../core/program.js";
import { storedType } from "./column-types.js";

type ParquetDriver = typeof parquetWriter;

interface RowGroupEncoderOptions {
  readonly columns: readonly TypedColumn[];
  readonly metadata: readonly KeyValue[];
}

/**
 * Minimum and maximum statistics longer than this are omitted: they are of little use and cost
 * memory.
 */
const maxStatisticLength = 64;

/**
 * Encodes columns of values as a Parquet file, one Snappy-compressed row group at a time. Returned
 * bytes are valid until the next call.
 */
export class RowGroupEncoder {
  readonly #names: readonly string[];
  readonly #bytes: ByteWriter;
  readonly #writer: ParquetWriter;
  readonly #schema: readonly SchemaElement[];

  constructor(driver: ParquetDriver, { columns, metadata }: RowGroupEncoderOptions) {
    this.#names = columns.map(({ name }) => name);
    this.#bytes = new driver.ByteWriter();
    this.#schema = [{ name: "root", num_children: columns.length }, ...columns.flatMap(elements)];
    const { name, version } = programInfo();
    this.#writer = new driver.ParquetWriter({
      writer: this.#bytes,
      // The driver would quote JSON text again.
      schema: this.#schema.map(({ converted_type: converted, ...element }) =>
        converted === undefined || converted === "JSON"
          ? element
          : { ...element, converted_type: converted },
      ),
      codec: "SNAPPY",
      createdBy: `${name} version ${version}`,
      kvMetadata: [...metadata],
    });
  }

  encode(columns: readonly (readonly CellValue[])[]): Uint8Array {
    this.#rewind();
    void this.#writer.write({
      columnData: this.#names.map((name, index) => ({
        name,
        data: columns[index] as CellValue[],
        offsetIndex: false,
      })),
      rowGroupSize: Number.MAX_SAFE_INTEGER,
    });
    dropLongBounds(this.#writer.row_groups.at(-1)!);
    return this.#written();
  }

  footer(): Uint8Array {
    this.#rewind();
    this.#writer.schema = [...this.#schema];
    void this.#writer.finish();
    return this.#written();
  }

  #written(): Uint8Array {
    return new Uint8Array(this.#bytes.buffer, 0, this.#bytes.index);
  }

  /** Clears the buffer, except for the file's first four bytes if they were never returned. */
  #rewind(): void {
    if (this.#bytes.offset === this.#bytes.index && this.#writer.row_groups.length === 0) return;
    this.#bytes.index = 0;
  }
}

function dropLongBounds(group: RowGroup): void {
  for (const { meta_data: facts } of group.columns) {
    const { statistics } = facts ?? {};
    if (statistics === undefined) continue;
    if (isLong(statistics.min_value)) delete statistics.min_value;
    if (isLong(statistics.max_value)) delete statistics.max_value;
  }
}

function isLong(bound: unknown): boolean {
  return typeof bound === "string" && bound.length > maxStatisticLength;
}

function elements({ name, type, nullable }: TypedColumn): SchemaElement[] {
  if (type !== "text[]") {
    return [
      { name, repetition_type: nullable ? "OPTIONAL" : "REQUIRED", ...storedType(type).parquet },
    ];
  }
  // A list has three levels (Parquet format, LogicalTypes.md, Lists).
  return [
    {
      name,
      repetition_type: "OPTIONAL",
      converted_type: "LIST",
      logical_type: { type: "LIST" },
      num_children: 1,
    },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "REQUIRED", ...storedType(type).parquet },
  ];
}
