import { writePart } from "../file-destination.js";
import { renamePart } from "../part-file.js";
import { stageLine } from "../stage.js";
import { stagedColumns, tableSchema } from "../sql/table-schema.js";
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
      let count = 0;
      await writePart(file, async (destination) => {
        for await (const rows of stage.rows()) {
          count += rows.length;
          await destination.write(Buffer.from(rows.map(stageLine).join("")));
        }
      });
      return { bytes: null, sha256: null, rows: count };
    },
    commit: (_, suffix) => renamePart(file, suffix),
  };
}
