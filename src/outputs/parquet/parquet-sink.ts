import type { EnrichedRow } from "../../core/row.js";
import type { ChecksumState } from "../../core/files/running-checksum.js";
import { partPath } from "../file-destination.js";
import type { Destination, Sink, SinkPosition, SinkResult } from "../types.js";
import type { ColumnBatch } from "../warehouse/column-batch.js";
import type { WarehouseAudit } from "../warehouse/types.js";
import type { GroupLog } from "./group-log.js";
import { readBack } from "./read-back.js";
import type { RowGroupEncoder } from "./row-group-encoder.js";
import type { RowSpill } from "./row-spill.js";

export interface ParquetSinkParts {
  readonly destination: Destination;
  readonly encoder: RowGroupEncoder;
  /** Rows of the group that is not full yet, those restored from `spill` included. */
  readonly batch: ColumnBatch;
  readonly groups: GroupLog;
  readonly spill: RowSpill;
  /** Rows taken in earlier processes of the run. */
  readonly rows: number;
  /** What the names of the added columns begin with. */
  readonly prefix: string;
  readonly path: string;
}

/**
 * Writes a Parquet file that grows by whole row groups. A checkpoint does not end a group: the rows
 * of the open one are kept beside the file instead.
 */
export class ParquetSink implements Sink {
  readonly #parts: ParquetSinkParts;
  #rows: number;
  /** Length of the file up to the end of its last row group. */
  #groupsEnd: number;
  /** Of the file up to there. */
  #checksum: ChecksumState | null;
  /** What of it the last checkpoint made durable. */
  #durable: number;
  /** Groups that were open at the last two checkpoints: one of them is what a resume goes back to. */
  #openGroups: readonly [before: number, last: number];
  #sealed = false;

  constructor(parts: ParquetSinkParts) {
    this.#parts = parts;
    this.#rows = parts.rows;
    this.#groupsEnd = parts.destination.length;
    this.#checksum = parts.destination.checksum();
    this.#durable = this.#groupsEnd;
    this.#openGroups = [parts.spill.group, parts.spill.group];
  }

  async write(rows: readonly EnrichedRow[]): Promise<void> {
    const { batch } = this.#parts;
    for (const row of rows) {
      batch.add(row);
      this.#rows++;
      if (batch.full) await this.#endGroup();
    }
  }

  async checkpoint(): Promise<SinkPosition> {
    const { destination, groups, batch, spill } = this.#parts;
    await spill.forgetBefore(this.#openGroups[0]);
    if (this.#durable !== this.#groupsEnd) {
      await destination.sync();
      await groups.sync();
      this.#durable = this.#groupsEnd;
    }
    await spill.keep(batch.columns, batch.rows);
    this.#openGroups = [this.#openGroups[1], spill.group];
    const position = { length: this.#groupsEnd, rows: this.#rows };
    return this.#checksum === null ? position : { ...position, checksum: this.#checksum };
  }

  /** Ends the file and reads it back. */
  async audit(): Promise<WarehouseAudit> {
    await this.#seal();
    return readBack(partPath(this.#parts.path), { prefix: this.#parts.prefix });
  }

  async finish(suffix?: string): Promise<SinkResult> {
    await this.#seal();
    const { destination, groups, spill } = this.#parts;
    await destination.finish(suffix);
    await groups.close();
    await spill.close();
    return { path: destination.path, bytes: destination.length, rows: this.#rows };
  }

  async abandon(): Promise<void> {
    const { destination, groups, spill } = this.#parts;
    await destination.abandon();
    await groups.close();
    await spill.close();
  }

  async #endGroup(): Promise<void> {
    const { destination, encoder, batch, groups, spill } = this.#parts;
    const { bytes, group } = encoder.encode(batch.columns);
    await destination.write(bytes);
    this.#groupsEnd = destination.length;
    this.#checksum = destination.checksum();
    await groups.append(this.#groupsEnd, group);
    batch.clear();
    await spill.next();
  }

  async #seal(): Promise<void> {
    if (this.#sealed) return;
    const { destination, encoder, batch } = this.#parts;
    if (batch.rows > 0) await this.#endGroup();
    await destination.write(encoder.footer());
    this.#sealed = true;
  }
}
