import { open } from "node:fs/promises";
import { FatalError } from "../core/errors.js";
import type { ChecksumState } from "../core/files/running-checksum.js";
import type { CellValue } from "../formats/typed-column.js";
import { verifyInput } from "../inputs/verify-input.js";
import {
  openParquetOutput,
  type OutputColumns,
  outputCells,
  type ParquetOutput,
} from "../outputs/parquet/output-rows.js";
import {
  type EarlierForm,
  type EarlierRow,
  earlierRow,
  outputReading,
  type Place,
} from "./earlier-row.js";
import type { OutputFiles } from "./output-files.js";
import { recordReader } from "./typed-record.js";

export async function formOfParquet(
  { files }: OutputFiles,
  options: OutputColumns,
): Promise<EarlierForm> {
  const { path = "" } = files[0] ?? {};
  const first = await openParquetOutput(path, options);
  const namesOf = ({ columns }: ParquetOutput): string => columns.map((c) => c.name).join("\n");
  return {
    columns: first.own,
    types: first.types,
    kind: "parquet",
    reading: outputReading(options.prefix),
    optional: first.optional,
    ...(first.runId !== null && { runId: first.runId }),
    settings: {},
    async open(file, { place, skip, before }) {
      const output = await openParquetOutput(file.path, options);
      if (namesOf(output) !== namesOf(first)) {
        throw new FatalError("output_corrupt", `${file.path} has other columns than ${path}`, {
          hint: "restore the data set from a copy",
        });
      }
      const checksum = before === undefined ? undefined : await verifyFile(file.path, before);
      const { rows, bytes } = output;
      const start = place.row - skip;
      return {
        rows: rowsIn(file.path, output, { place, skip, prefix: options.prefix }),
        bytesRead: () => (rows === 0 ? bytes : Math.round((bytes * (place.row - start)) / rows)),
        checksum: () => checksum,
        close: () => Promise.resolve(),
      };
    },
  };
}

/** Compares a file with what earlier sessions read. */
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
  {
    place,
    skip,
    prefix,
  }: { readonly place: Place; readonly skip: number; readonly prefix: string },
): AsyncGenerator<readonly EarlierRow[]> {
  const { columns } = output;
  const recordOf = recordReader(columns, prefix);
  const cellsOf = outputCells(path, columns);
  for await (const batch of output.values(skip)) {
    yield batch.map((values) => {
      const number = ++place.row;
      const saved = cellsOf(values);
      place.end += sizeOf(saved);
      const at = { number, line: number, end: place.end, endLine: number, saved };
      return earlierRow(recordOf(values), at, `${path}, row ${number}`);
    });
  }
}

/** About how much memory a row takes. */
function sizeOf(cells: readonly CellValue[]): number {
  return cells.reduce<number>((sum, cell) => sum + (typeof cell === "string" ? cell.length : 8), 0);
}
