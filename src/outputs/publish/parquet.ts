import { dirname } from "node:path";
import { schemaVersion } from "../../core/columns.js";
import { loadDriver } from "../../core/load-driver.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import { checkWritable, writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import type { StagedRow } from "../stage.js";
import { type BatchBounds, ColumnBatch } from "../warehouse/column-batch.js";
import { cellsEncoder, loadedRows } from "../warehouse/row-cells.js";
import { stagedColumns, type TableColumn, tableSchema, textWarnings } from "../sql/table-schema.js";
import type { ParquetTarget } from "../warehouse/target.js";
import type { Publication, PublicationOptions } from "../publication.js";
import type { Destination } from "../types.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const groupBounds: BatchBounds = { rows: 10_000, characters: 8 * 1024 * 1024 };

/** Prepares to publish a Parquet file, which appears by rename. */
export async function publishParquet(
  { file }: ParquetTarget,
  options: PublicationOptions,
): Promise<Publication> {
  const form = await parquetForm(options);
  await checkWritable(dirname(file), file);
  return {
    ...form,
    takesParts: false,
    async prepare(stage) {
      let count = 0;
      const written = await writePart(file, async (destination) => {
        const writer = await parquetWriter(destination, form);
        for await (const rows of loadedRows(stage, form.published, options.clock)) {
          for (const row of rows) await writer.add(row);
          count += rows.length;
        }
        await writer.end();
      });
      return { ...written, rows: count };
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}

export interface ParquetForm extends Pick<Publication, "encoder" | "columns" | "warnings"> {
  readonly published: readonly TableColumn[];
  readonly runId: string;
}

export async function parquetForm(options: PublicationOptions): Promise<ParquetForm> {
  await loadWriter();
  const schema = tableSchema("parquet", options);
  const { runId } = options;
  return {
    encoder: cellsEncoder(schema, options),
    columns: stagedColumns(schema.columns),
    published: schema.columns,
    warnings: textWarnings("parquet", options),
    runId,
  };
}

const loadWriter = () => loadDriver("hyparquet-writer", () => import("hyparquet-writer"));

export interface RowWriter {
  add(row: StagedRow): Promise<void>;
  /** Writes what is still in memory, and the end of the file. */
  end(): Promise<void>;
}

export async function parquetWriter(
  destination: Destination,
  { published: columns, runId }: ParquetForm,
): Promise<RowWriter> {
  const encoder = new RowGroupEncoder(await loadWriter(), {
    columns,
    metadata: [
      { key: "repute.schema_version", value: String(schemaVersion) },
      { key: "repute.run_id", value: runId },
    ],
  });
  const batch = new ColumnBatch(columns.length, groupBounds);
  const endGroup = async (): Promise<void> => {
    await destination.write(encoder.encode(batch.columns));
    batch.clear();
  };
  return {
    async add(row) {
      batch.add(row);
      if (batch.full) await endGroup();
    },
    async end() {
      if (batch.rows > 0) await endGroup();
      await destination.write(encoder.footer());
    },
  };
}
