import { FatalError } from "../../core/errors.js";
import { RowCounter } from "../../core/row.js";
import type { RowCounts } from "../../core/row.js";
import { openFileDestination, renamePart } from "../file-destination.js";
import { type Stage, stageLine, type StagedRow } from "../stage.js";
import { stagedColumns, type TableSchema, tableSchema } from "../sql/table-schema.js";
import { cellsEncoder } from "./parquet.js";
import type { Publication, PublicationOptions } from "../publication.js";

/** Prepares to publish staged rows as they are, in a file that appears by rename. */
export async function publishRows(file: string, options: PublicationOptions): Promise<Publication> {
  const schema = tableSchema("parquet", options);
  return {
    columns: stagedColumns(schema.columns),
    encoder: cellsEncoder(schema, options),
    takesParts: false,
    async prepare(stage) {
      const destination = await openFileDestination(file, null);
      try {
        for await (const rows of stage.rows()) {
          await destination.write(Buffer.from(rows.map(stageLine).join("")));
        }
        await destination.sync();
      } finally {
        await destination.abandon();
      }
      return { bytes: null, sha256: null, ...(await countStaged(stage, schema)) };
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}

/** Counts staged rows by status and verdict. @throws FatalError `output_corrupt` */
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
