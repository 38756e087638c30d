import { FatalError } from "../../core/errors.js";
import { RowCounter, type RowCounts } from "../../core/row.js";
import { renamePart, writePart } from "../file-destination.js";
import { type Stage, stageLine, type StagedRow } from "../stage.js";
import { stagedColumns, type TableSchema, tableSchema } from "../sql/table-schema.js";
import { cellsEncoder } from "../warehouse/row-cells.js";
import type { Publication, PublicationOptions } from "../publication.js";

/** Prepares to publish staged rows as they are, in a file that appears by rename. */
export async function publishRows(file: string, options: PublicationOptions): Promise<Publication> {
  const schema = tableSchema("parquet", options);
  return {
    columns: stagedColumns(schema.columns),
    encoder: cellsEncoder(schema, options),
    takesParts: false,
    async prepare(stage) {
      await writePart(file, async (destination) => {
        for await (const rows of stage.rows()) {
          await destination.write(Buffer.from(rows.map(stageLine).join("")));
        }
      });
      return { bytes: null, sha256: null, ...(await countStaged(stage, schema)) };
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}

export async function countStaged(
  stage: Stage,
  { columns, prefix }: TableSchema,
): Promise<RowCounts> {
  const counter = new RowCounter();
  const indexOf = (name: string): number =>
    columns.findIndex((column) => column.name === prefix + name);
  const [status, verdict] = [indexOf("status"), indexOf("verdict")];
  const cell = (row: StagedRow, index: number): unknown =>
    index < 0 ? undefined : (row[index] ?? null);
  for await (const rows of stage.rows()) {
    for (const row of rows) {
      const fault = counter.count(cell(row, status), cell(row, verdict));
      if (fault !== null) throw new FatalError("output_corrupt", `staged rows have ${fault}`);
    }
  }
  return counter.found();
}
