import { join } from "node:path";
import { schemaVersion } from "../../core/columns.js";
import { openFileDestination } from "../file-destination.js";
import { cellReaders } from "../warehouse/cell-values.js";
import { ColumnBatch } from "../warehouse/column-batch.js";
import type { BatchBounds } from "../warehouse/column-batch.js";
import { loadDriver } from "../warehouse/load-driver.js";
import { tableSchema } from "../warehouse/table-schema.js";
import type { ParquetTarget } from "../warehouse/target.js";
import type { OpenedWarehouse, WarehouseOptions } from "../warehouse/types.js";
import { GroupLog } from "./group-log.js";
import { ParquetSink } from "./parquet-sink.js";
import { RowGroupEncoder } from "./row-group-encoder.js";
import { RowSpill } from "./row-spill.js";

/** Large enough for readers to skip by groups, small enough to be held in memory. */
const groupBounds: BatchBounds = { rows: 20_000, characters: 16 * 1024 * 1024 };

/**
 * Opens a Parquet file as output. It grows as `FILE.part`; what its end will say and the rows of
 * the open row group are kept in the state folder.
 *
 * @param bounds where a row group ends
 * @throws UsageError `driver_missing`, `column_clash`; FatalError `output_*`
 */
export async function openParquet(
  { file }: ParquetTarget,
  options: WarehouseOptions,
  bounds = groupBounds,
): Promise<OpenedWarehouse> {
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema("parquet", { inputColumns: options.columns, prefix: options.prefix });
  const readers = cellReaders(schema, {
    runId: options.runId,
    onWarning: options.onWarning ?? (() => undefined),
  });
  const batch = new ColumnBatch(readers, bounds);
  const length = options.resume?.length ?? 0;
  const rows = options.resume?.rows ?? 0;

  const destination = await openFileDestination(file, options.resume);
  const path = join(options.stateFolder, "parquet-groups.ndjson");
  let log: GroupLog | null = null;
  let spill: RowSpill | null = null;
  try {
    const reopened = await GroupLog.reopen(path, length);
    const { groups } = reopened;
    log = reopened.log;
    spill = new RowSpill(options.stateFolder, groups.length);
    const open = rows - groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
    const types = schema.columns.map(({ type }) => type);
    for (const cells of await spill.restore(open, types)) batch.addCells(cells);
    const sink = new ParquetSink({
      destination,
      encoder: new RowGroupEncoder(driver, {
        columns: schema.columns,
        metadata: [
          { key: "repute.schema_version", value: String(schemaVersion) },
          { key: "repute.run_id", value: options.runId },
        ],
        before: { length, groups },
      }),
      batch,
      groups: log,
      spill,
      rows,
      prefix: options.prefix,
      path: file,
    });
    return { sink, note: null, audit: () => sink.audit() };
  } catch (error) {
    await log?.close();
    await spill?.close();
    await destination.abandon();
    throw error;
  }
}
