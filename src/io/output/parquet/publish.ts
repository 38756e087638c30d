import { dirname } from "node:path";
import { schemaVersion } from "../../../core/columns.js";
import { loadDriver } from "../../../core/load-driver.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import { checkWritable, writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import { type BatchBounds, cellsEncoder, ColumnBatch, loadedRows } from "../row-cells.js";
import { stagedColumns, tableSchema, textWarnings } from "../typed/table-schema.js";
import { parquetRules } from "./rules.js";
import type { Publication, PublicationOptions } from "../publication.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const groupBounds: BatchBounds = { rows: 10_000, characters: 8 * 1024 * 1024 };

/** Prepares to publish a Parquet file, which appears by rename. */
export async function publishParquet(
  file: string,
  options: PublicationOptions,
): Promise<Publication> {
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema(parquetRules, options);
  const { columns } = schema;
  await checkWritable(dirname(file), file);
  return {
    encoder: cellsEncoder(schema, options),
    columns: stagedColumns(columns),
    warnings: textWarnings(parquetRules, options),
    takesParts: false,
    async prepare(stage) {
      let count = 0;
      const metadata = [
        { key: "repute.schema_version", value: String(schemaVersion) },
        { key: "repute.run_id", value: options.runId },
      ];
      const encoder = new RowGroupEncoder(driver, { columns, metadata });
      const batch = new ColumnBatch(columns.length, groupBounds);
      const written = await writePart(file, async (destination) => {
        const endGroup = async (): Promise<void> => {
          await destination.write(encoder.encode(batch.columns));
          batch.clear();
        };
        for await (const rows of loadedRows(stage, columns, options.clock)) {
          for (const row of rows) {
            batch.add(row);
            if (batch.full) await endGroup();
          }
          count += rows.length;
        }
        if (batch.rows > 0) await endGroup();
        await destination.write(encoder.footer());
      });
      return { ...written, rows: count };
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}
