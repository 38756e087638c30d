import type { KeyValue, RowGroup, SchemaElement } from "hyparquet";
import type * as parquetWriter from "hyparquet-writer";
import type { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { dirname } from "node:path";
import { schemaVersion } from "../../../core/columns.js";
import { loadDriver } from "../../../core/load-driver.js";
import { programInfo } from "../../../core/program.js";
import { checkWritable, renamePart, writePart } from "../part-file.js";
import { storedType, type CellValue, type TypedColumn } from "../../formats/column-types.js";
import { cellsEncoder, type StagedCell } from "../stage.js";
import { leadingNames, parquetRules, tableSchema, textWarnings } from "../typed/table-schema.js";
import type { Publisher, PublisherOptions } from "../publisher.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const group = { rows: 10_000, characters: 8 * 1024 * 1024 };

const loadedIndex = leadingNames.indexOf("loaded_at");

/** Publishes a Parquet file, which appears by rename. */
export async function parquetPublisher(
  file: string,
  options: PublisherOptions,
): Promise<Publisher> {
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema(parquetRules, options);
  const { columns } = schema;
  return {
    takesParts: false,
    async check() {
      await checkWritable(dirname(file), file);
      const warnings = textWarnings(parquetRules, options);
      return { encoder: cellsEncoder(schema, options), warnings };
    },
    async publish(stage, { suffix, at }) {
      const loaded = BigInt(Math.round(at * 1000));
      const metadata = [
        { key: "repute.schema_version", value: String(schemaVersion) },
        { key: "repute.run_id", value: options.runId },
      ];
      const encoder = new RowGroupEncoder(driver, { columns, metadata });
      const values = columns.map(({ type }, index) => {
        const { cellOf } = storedType(type);
        const absent = index === loadedIndex ? loaded : null;
        return (cell: StagedCell): CellValue =>
          typeof cell === "string" ? (cellOf(cell) ?? null) : (cell ?? absent);
      });
      let [waiting, characters] = [columns.map((): CellValue[] => []), 0];
      const written = await writePart(file, async (destination) => {
        const endGroup = async (): Promise<void> => {
          if (waiting[0]?.length === 0) return;
          await destination.write(encoder.encode(waiting));
          [waiting, characters] = [columns.map(() => []), 0];
        };
        for await (const rows of stage.rows()) {
          for (const row of rows) {
            // Rows that stay until their group ends would take longer.
            waiting.forEach((column, index) => column.push(values[index]!(row[index] ?? null)));
            characters += row.reduce((sum, cell) => sum + sizeOf(cell), 0);
            const isFull = waiting[0]!.length >= group.rows || characters >= group.characters;
            if (isFull) await endGroup();
          }
        }
        await endGroup();
        await destination.write(encoder.footer());
      });
      await renamePart(file, suffix);
      return { ...written, rows: stage.count };
    },
  };
}

function sizeOf(cell: StagedCell): number {
  if (cell === null) return 0;
  return typeof cell === "string" ? cell.length : cell.reduce((sum, { length }) => sum + length, 0);
}

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
class RowGroupEncoder {
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
