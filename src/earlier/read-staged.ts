import type { EarlierRecord } from "../formats/types.js";
import { readStage } from "../outputs/stage.js";
import { stagedColumns, tableSchema } from "../outputs/sql/table-schema.js";
import type { PublishedRun, StagedCells } from "../run/types.js";
import type { OutputReading } from "./read-output.js";
import { cellsReader } from "./typed-record.js";

/** Opens the staged rows of a run that is published. */
export function readStaged(
  { kind, folder, position, columns: inputColumns, optional }: StagedCells,
  { manifest }: PublishedRun,
  prefix: string,
): OutputReading {
  const schema = tableSchema(kind, { columns: inputColumns, prefix, optional });
  const columns = stagedColumns(schema.columns);
  const recordOf = cellsReader(columns, prefix);
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for await (const rows of readStage(folder, position, columns)) yield rows.map(recordOf);
  };
  return { columns: inputColumns, records: records(), manifest };
}
