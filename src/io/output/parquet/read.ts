import { open } from "node:fs/promises";
import type { ChecksumState } from "../../../core/files/running-checksum.js";
import type { CellValue } from "../../formats/typed-column.js";
import { verifyInput } from "../../input/verify-input.js";
import {
  type OutputForm,
  outputReading,
  outputRow,
  type OutputRow,
  type Place,
  recordReader,
} from "../output-row.js";
import {
  openParquetOutput,
  type OutputColumns,
  outputCells,
  type ParquetOutput,
} from "./output-rows.js";

export async function formOfParquet(path: string, options: OutputColumns): Promise<OutputForm> {
  const output = await openParquetOutput(path, options);
  return {
    columns: output.own,
    types: output.types,
    kind: "parquet",
    reading: outputReading(options.prefix),
    optional: output.optional,
    ...(output.runId !== null && { runId: output.runId }),
    settings: {},
    async open(place, before) {
      const checksum = before === undefined ? undefined : await verifyFile(path, before);
      const { rows, bytes } = output;
      return {
        rows: rowsIn(path, output, { place, prefix: options.prefix }),
        bytesRead: () => (rows === 0 ? bytes : Math.round((bytes * place.row) / rows)),
        checksum: () => checksum,
        close: () => Promise.resolve(),
      };
    },
  };
}

/** Compares a file with what was read before. */
async function verifyFile(path: string, before: ChecksumState | null): Promise<ChecksumState> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    return (await verifyInput({ name: path, handle }, before, size)).state();
  } finally {
    await handle.close();
  }
}

async function* rowsIn(
  path: string,
  output: ParquetOutput,
  { place, prefix }: { readonly place: Place; readonly prefix: string },
): AsyncGenerator<readonly OutputRow[]> {
  const { columns } = output;
  const recordOf = recordReader(columns, prefix);
  const cellsOf = outputCells(path, columns);
  for await (const batch of output.values(place.row)) {
    yield batch.map((values) => {
      const number = ++place.row;
      const saved = cellsOf(values);
      place.end += sizeOf(saved);
      const at = { number, line: number, end: place.end, endLine: number, saved };
      return outputRow(recordOf(values), at, `${path}, row ${number}`);
    });
  }
}

/** About how much memory a row takes. */
function sizeOf(cells: readonly CellValue[]): number {
  return cells.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
}
