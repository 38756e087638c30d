import { open } from "node:fs/promises";
import { join } from "node:path";
import type { ColumnType } from "../../core/column.js";
import type { EnrichedRow } from "../../core/row.js";
import { linesEncoder } from "../formats/lines-encoder.js";
import { splitLines } from "../formats/reading/lines.js";
import type { CellValue } from "../formats/typed-column.js";
import type { Encoder } from "../formats/types.js";
import { partFault, partPath, verifyPart, type WrittenPosition } from "./part-file.js";

/** The rows of a run that wait to be published: one JSON array of typed cells per line. */
export interface Stage {
  /** Rows in their order, in batches. May be read again. */
  rows(): AsyncGenerator<readonly StagedRow[]>;
  /** Compares them with what was staged. @throws FatalError `output_part_*` */
  verify(): Promise<void>;
  readonly count: number;
  /** Whether its file is there. Only the cleaning after a run removes it. */
  readonly exists: boolean;
}

export type StagedRow = readonly CellValue[];

/** The staged rows in a state folder, without the suffix that they have as a part file. */
export function stagePath(stateFolder: string): string {
  return join(stateFolder, "rows");
}

/** Encodes rows for the stage. JSON has no 64-bit integers, so that counts and times are texts. */
export function stageEncoder(cellsOf: (row: EnrichedRow) => StagedRow): Encoder {
  return linesEncoder((row) => stageLine(cellsOf(row)));
}

export function stageLine(cells: StagedRow): string {
  return `${JSON.stringify(cells.map(plainCell))}\n`;
}

function plainCell(value: CellValue): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/**
 * Reads staged rows, up to the length that the run has written. All of them are verified before the
 * first: DuckDB fills rows in in several transactions.
 */
export async function* readStage(
  stateFolder: string,
  position: WrittenPosition,
  columns: readonly { readonly type: ColumnType }[],
): AsyncGenerator<readonly StagedRow[]> {
  if (position.length === 0) return;
  const path = partPath(stagePath(stateFolder));
  const splitter = splitLines();
  const types = columns.map(({ type }) => type);
  try {
    await using file = await open(path);
    await verifyPart(path, file, position);
    const range = { start: 0, end: position.length - 1, highWaterMark: readBytes };
    for await (const chunk of file.createReadStream({ ...range, autoClose: false })) {
      yield splitter.push(chunk as Buffer).map((line) => parseRow(line, types));
    }
  } catch (error) {
    throw partFault(path, error);
  }
}

const readBytes = 256 * 1024;

function parseRow(line: Buffer, types: readonly ColumnType[]): StagedRow {
  const cells = JSON.parse(line.toString("utf8")) as readonly unknown[];
  return types.map((type, index) => {
    const cell = cells[index] ?? null;
    const isInteger = type === "count" || type === "timestamp";
    return isInteger && cell !== null ? BigInt(cell as string) : (cell as CellValue);
  });
}
