import { dirname } from "node:path";
import { schemaVersion } from "../../core/columns.js";
import { loadDriver } from "../../core/load-driver.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import { checkWritable, openFileDestination, partPath, renamePart } from "../file-destination.js";
import { readBack } from "../parquet/read-back.js";
import { type StagedRow, stageEncoder } from "../stage.js";
import { cellReaders } from "../warehouse/cell-values.js";
import { type BatchBounds, ColumnBatch } from "../warehouse/column-batch.js";
import { loadedRows, rowCells } from "../warehouse/row-cells.js";
import {
  stagedColumns,
  type TableColumn,
  type TableSchema,
  tableSchema,
  textWarnings,
} from "../sql/table-schema.js";
import type { ParquetTarget } from "../warehouse/target.js";
import type { Publication, PublicationOptions } from "../publication.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const groupBounds: BatchBounds = { rows: 10_000, characters: 8 * 1024 * 1024 };

/**
 * Prepares to publish a Parquet file, which appears by rename.
 *
 * @throws UsageError `driver_missing`, `column_clash`; FatalError `output_*`
 */
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
      const writer = await openParquetWriter(file, form);
      try {
        for await (const rows of loadedRows(stage, form.published, options.clock)) {
          for (const row of rows) await writer.add(row);
        }
        await writer.end();
      } finally {
        await writer.abandon();
      }
      return readBack(partPath(file), options);
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}

/** How rows are staged and written as Parquet. */
export interface ParquetForm extends Pick<Publication, "encoder" | "columns" | "warnings"> {
  /** The columns of the file. */
  readonly published: readonly TableColumn[];
  readonly runId: string;
}

/** @throws UsageError `driver_missing`, `column_clash` */
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

/** Encodes rows as the cells of a table. */
export function cellsEncoder(
  schema: Pick<TableSchema, "columns">,
  { runId, onWarning = () => undefined }: Pick<PublicationOptions, "runId" | "onWarning">,
): Publication["encoder"] {
  return stageEncoder(rowCells(schema, cellReaders(schema, { runId, onWarning })));
}

const loadWriter = () => loadDriver("hyparquet-writer", () => import("hyparquet-writer"));

/** Writes a Parquet file as `FILE.part`. */
export interface ParquetWriter {
  add(row: StagedRow): Promise<void>;
  /** Writes the end of the file, and makes all of it durable. */
  end(): Promise<void>;
  /** The same, and gives it its name. */
  finish(): Promise<void>;
  /** Closes the file, however far it was written. */
  abandon(): Promise<void>;
}

/** @throws FatalError `output_*` */
export async function openParquetWriter(
  file: string,
  { published: columns, runId }: ParquetForm,
): Promise<ParquetWriter> {
  const destination = await openFileDestination(file, null);
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
  const end = async (): Promise<void> => {
    if (batch.rows > 0) await endGroup();
    await destination.write(encoder.footer());
    await destination.sync();
  };
  return {
    async add(row) {
      batch.add(row);
      if (batch.full) await endGroup();
    },
    end,
    async finish() {
      await end();
      await destination.finish();
    },
    abandon: () => destination.abandon(),
  };
}
