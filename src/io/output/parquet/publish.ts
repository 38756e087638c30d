import { dirname } from "node:path";
import { schemaVersion } from "../../../core/columns.js";
import { loadDriver } from "../../../core/load-driver.js";
import { RowGroupEncoder } from "../../formats/row-group-encoder.js";
import { checkWritable, renamePart, writePart } from "../part-file.js";
import { storedType } from "../../formats/column-types.js";
import type { CellValue } from "../../formats/typed-column.js";
import { cellsEncoder, type StagedCell } from "../stage.js";
import { leadingNames, parquetRules, tableSchema, textWarnings } from "../typed/table-schema.js";
import type { Publisher, PublisherOptions } from "../publisher.js";

/** Large enough for readers to skip by group, small enough to buffer. */
const group = { rows: 10_000, characters: 8 * 1024 * 1024 };

const loadedIndex = leadingNames.indexOf("loaded_at");

/** Publishes a Parquet file, which appears by rename. */
export async function parquetPublisher(
  file: string,
  options: PublisherOptions,
): Promise<Publisher> {
  const driver = await loadDriver("hyparquet-writer", () => import("hyparquet-writer"));
  const schema = tableSchema(parquetRules, options);
  const { columns } = schema;
  return {
    takesParts: false,
    async check() {
      await checkWritable(dirname(file), file);
      const warnings = textWarnings(parquetRules, options);
      return { encoder: cellsEncoder(schema, options), warnings };
    },
    async publish(stage, { suffix, at }) {
      const loaded = BigInt(Math.round(at * 1000));
      const metadata = [
        { key: "repute.schema_version", value: String(schemaVersion) },
        { key: "repute.run_id", value: options.runId },
      ];
      const encoder = new RowGroupEncoder(driver, { columns, metadata });
      const values = columns.map(({ type }, index) => {
        const { cellOf } = storedType(type);
        const absent = index === loadedIndex ? loaded : null;
        return (cell: StagedCell): CellValue =>
          typeof cell === "string" ? (cellOf(cell) ?? null) : (cell ?? absent);
      });
      let [waiting, characters] = [columns.map((): CellValue[] => []), 0];
      const written = await writePart(file, async (destination) => {
        const endGroup = async (): Promise<void> => {
          if (waiting[0]?.length === 0) return;
          await destination.write(encoder.encode(waiting));
          [waiting, characters] = [columns.map(() => []), 0];
        };
        for await (const rows of stage.rows()) {
          for (const row of rows) {
            // Rows that stay until their group ends would take longer.
            waiting.forEach((column, index) => column.push(values[index]!(row[index] ?? null)));
            characters += row.reduce((sum, cell) => sum + sizeOf(cell), 0);
            const isFull = waiting[0]!.length >= group.rows || characters >= group.characters;
            if (isFull) await endGroup();
          }
        }
        await endGroup();
        await destination.write(encoder.footer());
      });
      await renamePart(file, suffix);
      return { ...written, rows: stage.count };
    },
  };
}

function sizeOf(cell: StagedCell): number {
  if (cell === null) return 0;
  return typeof cell === "string" ? cell.length : cell.reduce((sum, { length }) => sum + length, 0);
}
