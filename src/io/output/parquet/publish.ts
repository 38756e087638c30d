import type { SchemaElement } from "hyparquet";
import type * as parquetWriter from "hyparquet-writer";
import { loadDriver } from "../../../core/load-driver.js";
import { programInfo } from "../../../core/program.js";
import { checkWritable, type Destination, renamePart, writePart } from "../part-file.js";
import { storedType, type CellValue, type TypedColumn } from "../../formats/column-types.js";
import { cellsEncoder, charactersIn, type StagedCell } from "../stage.js";
import { leadingNames, parquetRules, tableSchema, textWarnings } from "../typed/table-schema.js";
import { describer, type Publisher, type PublisherOptions } from "../publisher.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const group = { rows: 10_000, characters: 8 * 1024 * 1024 };

const loadedIndex = leadingNames.indexOf("loaded_at");

/** Publishes a Parquet file, which appears by rename. */
export async function parquetPublisher(options: PublisherOptions): Promise<Publisher> {
  const { file } = options;
  if (file === null) throw new TypeError("no Parquet file");
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema(parquetRules, options);
  const { columns } = schema;
  return {
    describe: describer(options, { format: "parquet" }),
    async check() {
      await checkWritable(file);
      const warnings = textWarnings(parquetRules, options);
      return { encoder: cellsEncoder(schema, options), warnings };
    },
    async publish(stage, { suffix, at }) {
      const loaded = BigInt(Math.round(at * 1000));
      const values = columns.map(({ type }, index) => {
        const { cellOf } = storedType(type);
        const absent = index === loadedIndex ? loaded : null;
        return (cell: StagedCell): CellValue =>
          typeof cell === "string" ? (cellOf(cell) ?? null) : (cell ?? absent);
      });
      let [waiting, characters] = [columns.map((): CellValue[] => []), 0];
      const written = await writePart(file, async (destination) => {
        const writer = rowGroupWriter(driver, destination, columns);
        const endGroup = async (): Promise<void> => {
          if (waiting[0]?.length === 0) return;
          await writer.write(waiting);
          [waiting, characters] = [columns.map(() => []), 0];
        };
        for await (const rows of stage.rows()) {
          for (const row of rows) {
            // Rows that stay until their group ends would take longer.
            waiting.forEach((column, index) => column.push(values[index]!(row[index] ?? null)));
            characters += charactersIn(row);
            const isFull = waiting[0]!.length >= group.rows || characters >= group.characters;
            if (isFull) await endGroup();
          }
        }
        await endGroup();
        await writer.finish();
      });
      await renamePart(file, suffix);
      return { ...written, rows: stage.count };
    },
  };
}

/** Writes a Parquet file, one Snappy-compressed row group at a time. */
function rowGroupWriter(
  driver: typeof parquetWriter,
  destination: Destination,
  columns: readonly TypedColumn[],
) {
  const bytes = new driver.ByteWriter();
  // After each row group, and at the end.
  const flush = async (): Promise<void> => {
    await destination.write(bytes.getBytes());
    bytes.index = 0;
  };
  const root: SchemaElement = { name: "root", num_children: columns.length };
  const schema = [root, ...columns.flatMap(elements)];
  const { name: program, version } = programInfo();
  const writer = new driver.ParquetWriter({
    writer: Object.assign(bytes, { flush, finish: flush }),
    // The driver would quote JSON text again.
    schema: schema.map(({ converted_type: converted, ...element }) =>
      converted === undefined || converted === "JSON"
        ? element
        : { ...element, converted_type: converted },
    ),
    codec: "SNAPPY",
    createdBy: `${program} version ${version}`,
  });
  return {
    async write(values: readonly CellValue[][]): Promise<void> {
      const columnData = columns.map(({ name, type }, index) => ({
        name,
        data: values[index]!,
        offsetIndex: false,
        // The driver cuts the bounds of text. Those of JSON are as long as a cell, and of no use.
        statistics: type !== "json",
      }));
      await writer.write({ columnData, rowGroupSize: Number.MAX_SAFE_INTEGER });
    },
    async finish(): Promise<void> {
      writer.schema = schema;
      await writer.finish();
    },
  };
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
