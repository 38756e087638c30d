import { createReadStream } from "node:fs";
import type { RowGroup } from "hyparquet";
import { schemaVersion } from "../../core/columns.js";
import { loadDriver } from "../../core/load-driver.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import type { Destination } from "../../outputs/types.js";
import { tableSchema } from "../../outputs/warehouse/table-schema.js";
import { damageIn, type ResultFile } from "./chunk-result.js";
import type { FileJoin } from "./join-text.js";
import type { WorkPlan } from "./work-plan.js";

/** First and last bytes of a Parquet file. */
const magic = Buffer.from("PAR1");

/** Joins Parquet files by their row groups, which are copied as they are. */
export class ParquetJoin implements FileJoin {
  readonly #destination: Destination;
  readonly #plan: WorkPlan;
  readonly #groups: RowGroup[] = [];

  constructor(destination: Destination, plan: WorkPlan) {
    this.#destination = destination;
    this.#plan = plan;
  }

  async begin(): Promise<void> {
    await this.#destination.write(magic);
  }

  async add(path: string, file: ResultFile): Promise<string | null> {
    const fault = await damageIn(createReadStream(path), file);
    if (fault !== null) return fault;
    const { asyncBufferFromFile, parquetMetadataAsync } = await loadDriver(
      "hyparquet",
      () => import("hyparquet"),
    );
    const { row_groups: groups } = await parquetMetadataAsync(await asyncBufferFromFile(path));
    const end = groups.reduce((most, group) => Math.max(most, endOf(group)), magic.length);
    const moved = BigInt(this.#destination.length - magic.length);
    this.#groups.push(...groups.map((group) => moveGroup(group, moved)));
    if (end === magic.length) return null;
    for await (const bytes of createReadStream(path, { start: magic.length, end: end - 1 })) {
      await this.#destination.write(bytes as Buffer);
    }
    return null;
  }

  async end(): Promise<void> {
    const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
    const { columns, settings, plan_id } = this.#plan;
    const schema = tableSchema("parquet", { inputColumns: columns, prefix: settings.prefix });
    const encoder = new RowGroupEncoder(driver, {
      columns: schema.columns,
      metadata: [
        { key: "repute.schema_version", value: String(schemaVersion) },
        { key: "repute.run_id", value: plan_id },
      ],
      before: { length: this.#destination.length, groups: this.#groups },
    });
    await this.#destination.write(encoder.footer());
  }
}

/** Offset after the last byte of a row group's columns. */
function endOf({ columns }: RowGroup): number {
  return columns.reduce((most, { meta_data: facts }) => {
    if (facts === undefined) return most;
    const start = facts.dictionary_page_offset ?? facts.data_page_offset;
    return Math.max(most, Number(start + facts.total_compressed_size));
  }, 0);
}

function moveGroup(group: RowGroup, by: bigint): RowGroup {
  const moved = (offset: bigint | undefined) => (offset === undefined ? undefined : offset + by);
  return {
    ...group,
    file_offset: moved(group.file_offset),
    columns: group.columns.map((column) => ({
      ...column,
      file_offset: column.file_offset + by,
      meta_data: column.meta_data && {
        ...column.meta_data,
        data_page_offset: column.meta_data.data_page_offset + by,
        dictionary_page_offset: moved(column.meta_data.dictionary_page_offset),
      },
    })),
  } as RowGroup;
}
