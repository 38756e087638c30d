import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { RowGroup } from "hyparquet";
import { schemaVersion } from "../../core/columns.js";
import { FatalError } from "../../core/errors.js";
import { openFileDestination, partPath } from "../file-destination.js";
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

  if (length > 0) await mustHold(file, length);
  const { log, groups } = await openGroups(file, options.stateFolder, length);
  const spill = new RowSpill(options.stateFolder, groups.length);
  try {
    const open = rows - groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
    const types = schema.columns.map(({ type }) => type);
    const restored = await spill.restore(open, types);
    if (restored === null) throw differs(file);
    for (const cells of restored) batch.addCells(cells);
    const destination = await openFileDestination(file, length === 0 ? null : length);
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
      statusColumn: `${options.prefix}status`,
      path: file,
    });
    return { sink, note: null, audit: () => sink.audit() };
  } catch (error) {
    await log.close();
    await spill.close();
    throw error;
  }
}

/** The part must be there and as long as the checkpoint has it; cutting must never lengthen it. */
async function mustHold(file: string, length: number): Promise<void> {
  const facts = await stat(partPath(file)).catch(() => null);
  if (facts === null || facts.size < length) throw differs(file);
}

async function openGroups(
  file: string,
  folder: string,
  length: number,
): Promise<{ log: GroupLog; groups: readonly RowGroup[] }> {
  const path = join(folder, "parquet-groups.ndjson");
  if (length === 0) return { log: await GroupLog.create(path), groups: [] };
  const reopened = await GroupLog.reopen(path, length);
  if (reopened === null) throw differs(file);
  return reopened;
}

function differs(file: string): FatalError {
  return new FatalError(
    "output_part_differs",
    `${partPath(file)} is not as the interrupted run left it`,
    { hint: "start anew with --restart" },
  );
}
