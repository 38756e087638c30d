import { columnTypes } from "../../formats/column-types.js";
import { auditOutput } from "../audit-output.js";
import { partPath, writePart } from "../file-destination.js";
import type { Stage } from "../stage.js";
import { stagedColumns, type TableSchema } from "../sql/table-schema.js";
import type { Audit } from "../types.js";

/**
 * Writes the rows of a run with too many failures, which its table does not take, as flat NDJSON.
 */
export async function keepFailed(
  stage: Stage,
  { columns: published, prefix }: TableSchema,
  path: string,
): Promise<Audit> {
  const columns = stagedColumns(published);
  // Run and number are not columns of text.
  const kept = columns.map(({ from }) => from.kind === "input" || from.kind === "added");
  await writePart(path, async (file) => {
    for await (const rows of stage.rows()) {
      const lines = rows.map((row) => {
        const members = columns.flatMap(({ name, type }, index) => {
          const cell = row[index] ?? null;
          const value = cell === null ? null : columnTypes[type].toValue(cell);
          return kept[index] === true ? [[name, value] as const] : [];
        });
        return `${JSON.stringify(Object.fromEntries(members))}\n`;
      });
      await file.write(Buffer.from(lines.join("")));
    }
  });
  const reading = {
    format: "ndjson",
    gzip: false,
    prefix,
    shape: "flat",
    inputColumns: 0,
  } as const;
  return auditOutput(partPath(path), reading);
}
