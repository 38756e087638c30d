import type { EarlierRecord } from "../formats/types.js";
import { readStage } from "../outputs/stage.js";
import { tableSchema } from "../outputs/warehouse/table-schema.js";
import type { PublishedRun, StagedCells } from "../run/types.js";
import type { OutputReading } from "./read-output.js";
import { cellsReader } from "./typed-record.js";

/** Opens the staged rows of a run that is published. */
export function readStaged(
  { kind, folder, position, columns: inputColumns, optional }: StagedCells,
  { manifest }: PublishedRun,
  prefix: string,
): OutputReading {
  const { columns } = tableSchema(kind, { inputColumns, prefix, optional });
  const recordOf = cellsReader(columns, prefix);
  const records = async function* (): AsyncGenerator<readonly EarlierRecord[]> {
    for await (const rows of readStage(folder, position, columns)) yield rows.map(recordOf);
  };
  return { columns: inputColumns, records: records(), manifest };
}
