import { join } from "node:path";
import { schemaVersion } from "../../core/columns.js";
import type { ChecksumState } from "../../core/files/running-checksum.js";
import type { EnrichedRow } from "../../core/row.js";
import { openFileDestination, partPath } from "../file-destination.js";
import type { Destination, Sink, SinkPosition, SinkResult } from "../types.js";
import { cellReaders } from "../warehouse/cell-values.js";
import { type BatchBounds, ColumnBatch } from "../warehouse/column-batch.js";
import { rowCells } from "../warehouse/row-cells.js";
import { loadDriver } from "../../core/load-driver.js";
import { tableSchema } from "../warehouse/table-schema.js";
import type { ParquetTarget } from "../warehouse/target.js";
import type { OpenedWarehouse, WarehouseAudit, WarehouseOptions } from "../warehouse/types.js";
import { groupLine, openGroupLog } from "./group-log.js";
import { readBack } from "./read-back.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import { RowSpill } from "./row-spill.js";
import type { SideFile } from "./side-file.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const groupBounds: BatchBounds = { rows: 20_000, characters: 16 * 1024 * 1024 };

/**
 * Opens a Parquet file as output. It is written as `FILE.part`; row group metadata and the rows of
 * the unfinished group are kept in the state folder.
 * @param bounds size of a row group
 * @throws UsageError `driver_missing`, `column_clash`; FatalError `output_*`
 */
export async function openParquet(
  { file }: ParquetTarget,
  options: WarehouseOptions,
  bounds = groupBounds,
): Promise<OpenedWarehouse> {
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema("parquet", { ...options, inputColumns: options.columns });
  const readers = cellReaders(schema, {
    runId: options.runId,
    onWarning: options.onWarning ?? (() => undefined),
  });
  const batch = new ColumnBatch(readers, bounds);
  const length = options.resume?.length ?? 0;
  const rows = options.resume?.rows ?? 0;

  const destination = await openFileDestination(file, options.resume);
  const path = join(options.stateFolder, "parquet-groups.ndjson");
  let groupLog: SideFile | null = null;
  let spill: RowSpill | null = null;
  try {
    const { log, groups } = await openGroupLog(path, length);
    groupLog = log;
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
      cellsOf: rowCells(schema, readers),
      log,
      spill,
      rows,
      prefix: options.prefix,
      path: file,
    });
    return { sink, note: null, audit: () => sink.audit() };
  } catch (error) {
    await groupLog?.close();
    await spill?.close();
    await destination.abandon();
    throw error;
  }
}

interface ParquetSinkParts {
  readonly destination: Destination;
  readonly encoder: RowGroupEncoder;
  /** Rows of the unfinished group, including those restored from `spill`. */
  readonly batch: ColumnBatch;
  readonly cellsOf: ReturnType<typeof rowCells>;
  readonly log: SideFile;
  readonly spill: RowSpill;
  /** Rows written in earlier sessions. */
  readonly rows: number;
  /** Prefix of the added columns' names. */
  readonly prefix: string;
  readonly path: string;
}

/**
 * Writes a Parquet file in whole row groups. A checkpoint doesn't end a group; the rows of the
 * unfinished one are stored beside the file instead.
 */
class ParquetSink implements Sink {
  readonly #parts: ParquetSinkParts;
  #rows: number;
  /** File length up to the last complete row group. */
  #groupsEnd: number;
  /** Checksum of the file up to there. */
  #checksum: ChecksumState | null;
  /** File length that the last checkpoint made durable. */
  #durableLength: number;
  /** Unfinished groups at the last two checkpoints; a resume continues from one of them. */
  #recentGroups: readonly [before: number, last: number];
  #isComplete = false;

  constructor(parts: ParquetSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
    this.#groupsEnd = parts.destination.length;
    this.#checksum = parts.destination.checksum();
    this.#durableLength = this.#groupsEnd;
    this.#recentGroups = [parts.spill.group, parts.spill.group];
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    const { batch, cellsOf } = this.#parts;
    for (const row of rows) {
      batch.addCells(cellsOf(row));
      this.#rows++;
      if (batch.full) await this.#endGroup();
    }
  }

  async checkpoint(): Promise<SinkPosition> {
    const { destination, log, batch, spill } = this.#parts;
    await spill.deleteBefore(this.#recentGroups[0]);
    if (this.#durableLength !== this.#groupsEnd) {
      await destination.sync();
      await log.sync();
      this.#durableLength = this.#groupsEnd;
    }
    await spill.keep(batch.columns, batch.rows);
    this.#recentGroups = [this.#recentGroups[1], spill.group];
    const position = { length: this.#groupsEnd, rows: this.#rows };
    return this.#checksum === null ? position : { ...position, checksum: this.#checksum };
  }

  /** Completes the file and reads it back. */
  async audit(): Promise<WarehouseAudit> {
    await this.#complete();
    return readBack(partPath(this.#parts.path), { prefix: this.#parts.prefix });
  }

  async finish(suffix?: string): Promise<SinkResult> {
    await this.#complete();
    const { destination, log, spill } = this.#parts;
    await destination.finish(suffix);
    await log.close();
    await spill.close();
    const { path, length: bytes } = destination;
    return { path, bytes, rows: this.#rows, crc: destination.checksum()?.crc };
  }

  async abandon(): Promise<void> {
    const { destination, log, spill } = this.#parts;
    await destination.abandon();
    await log.close();
    await spill.close();
  }

  async #endGroup(): Promise<void> {
    const { destination, encoder, batch, log, spill } = this.#parts;
    const { bytes, group } = encoder.encode(batch.columns);
    await destination.write(bytes);
    this.#groupsEnd = destination.length;
    this.#checksum = destination.checksum();
    await log.append(groupLine({ end: this.#groupsEnd, group }));
    batch.clear();
    await spill.next();
  }

  async #complete(): Promise<void> {
    if (this.#isComplete) return;
    const { destination, encoder, batch } = this.#parts;
    if (batch.rows > 0) await this.#endGroup();
    await destination.write(encoder.footer());
    this.#isComplete = true;
  }
}
