import { createReadStream, existsSync } from "node:fs";
import { join } from "node:path";
import type { EnrichedRow } from "../../core/row.js";
import { linesEncoder } from "../formats/lines-encoder.js";
import { splitLines } from "../formats/reading/lines.js";
import type { Encoder } from "../formats/types.js";
import { partFault, partPath, readWritten, type WrittenPosition } from "./part-file.js";
import type { SinkPosition } from "./types.js";

/** The rows of a run that wait to be published: one JSON array of cells per line. */
export interface Stage {
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  readonly count: number;
  /** Whether its file is there. Only the cleaning after a run removes it. */
  readonly exists: boolean;
  /** Rows in their order, in batches, all of them verified before the first. May be read again. */
  rows(): AsyncGenerator<readonly StagedRow[]>;
  /**
   * Compares them with what was staged.
   *
   * @param take receives the bytes
   * @throws FatalError `output_part_*`
   */
  verify(take?: (bytes: Uint8Array) => void): Promise<void>;
}

/** A value as text, of which every output makes its own, or the entries of a list. */
export type StagedCell = string | readonly string[] | null;

export type StagedRow = readonly StagedCell[];

/** The staged rows in a state folder, without the suffix that they have as a part file. */
export function stagePath(stateFolder: string): string {
  return join(stateFolder, "rows");
}

export function stageEncoder(cellsOf: (row: EnrichedRow) => StagedRow): Encoder {
  return linesEncoder((row) => stageLine(cellsOf(row)));
}

export function stageLine(cells: StagedRow): string {
  return `${JSON.stringify(cells)}\n`;
}

/** The staged rows of a run up to a position. */
export function stageUpTo(stateFolder: string, position: SinkPosition): Stage {
  const path = stagePath(stateFolder);
  return {
    path: partPath(path),
    length: position.length,
    count: position.rows,
    rows: () => readStage(stateFolder, position),
    async verify(take) {
      await readWritten(path, position, take);
    },
    get exists() {
      return existsSync(partPath(path));
    },
  };
}

/** Reads staged rows, up to the length that the run has written. */
export async function* readStage(
  stateFolder: string,
  position: WrittenPosition,
): AsyncGenerator<readonly StagedRow[]> {
  if (position.length === 0) return;
  const path = stagePath(stateFolder);
  const splitter = splitLines();
  await readWritten(path, position);
  try {
    const range = { start: 0, end: position.length - 1, highWaterMark: 256 * 1024 };
    for await (const chunk of createReadStream(partPath(path), range)) {
      yield splitter.push(chunk as Buffer).map(parseRow);
    }
  } catch (error) {
    throw partFault(partPath(path), error);
  }
}

function parseRow(line: Buffer): StagedRow {
  return JSON.parse(line.toString("utf8")) as StagedRow;
}
