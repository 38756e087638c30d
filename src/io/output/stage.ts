import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { EnrichedRow } from "../../core/row.js";
import { linesEncoder } from "../formats/lines-encoder.js";
import { splitLines } from "../formats/reading/lines.js";
import type { Encoder } from "../formats/types.js";
import { partFault, partPath, readWritten } from "./part-file.js";
import type { SinkPosition, WrittenFile } from "./types.js";

/** The rows of a run that wait to be published: one JSON array of cells per line. */
export interface Stage {
  readonly path: string;
  /** Bytes. */
  readonly length: number;
  readonly crc: number | null;
  readonly count: number;
  /** Rows in their order, in batches, all of them verified before the first. May be read again. */
  rows(): AsyncGenerator<readonly StagedRow[]>;
  /**
   * Compares them with what was staged.
   *
   * @param take receives the bytes
   * @throws FatalError `output_part_*`
   */
  verify(take?: (bytes: Uint8Array) => void): Promise<WrittenFile>;
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

/**
 * The rows of a run up to a position. They are verified once, but whenever a database reads them.
 *
 * @param file whose part file they are
 */
export function stageUpTo(file: string, position: SinkPosition): Stage {
  const path = partPath(file);
  let verified: WrittenFile | null = null;
  const verify: Stage["verify"] = async (take) => {
    if (verified === null || take !== undefined) verified = await readWritten(file, position, take);
    return verified;
  };
  return {
    path,
    length: position.length,
    crc: position.checksum?.crc ?? null,
    count: position.rows,
    verify,
    async *rows() {
      if (position.length === 0) return;
      await verify();
      yield* readStage(path, position.length);
    },
  };
}

async function* readStage(path: string, length: number): AsyncGenerator<readonly StagedRow[]> {
  const splitter = splitLines();
  try {
    const range = { start: 0, end: length - 1, highWaterMark: 256 * 1024 };
    for await (const chunk of createReadStream(path, range)) {
      yield splitter.push(chunk as Buffer).map(parseRow);
    }
  } catch (error) {
    throw partFault(path, error);
  }
}

function parseRow(line: Buffer): StagedRow {
  return JSON.parse(line.toString("utf8")) as StagedRow;
}
