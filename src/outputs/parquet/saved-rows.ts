import type { AsyncBuffer, FileMetaData } from "hyparquet";
import type { EarlierRecord } from "../../formats/types.js";
import { loadDriver } from "../../core/load-driver.js";
import { savedRecord, type SavedColumns, savedColumns } from "../warehouse/saved-rows.js";
import type { SavedRows, SavedRowsOptions } from "../warehouse/types.js";
import { slices } from "./parquet-file.js";
import { corrupt } from "./read-back.js";

const loadReader = () => loadDriver("hyparquet", () => import("hyparquet"));

/**
 * Opens the rows of a Parquet file. They are decoded slice by slice.
 *
 * @throws FatalError `output_corrupt`; UsageError `not_an_output`, `driver_missing`
 */
export async function parquetRows(path: string, options: SavedRowsOptions): Promise<SavedRows> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetSchema } = await loadReader();
  const file = await asyncBufferFromFile(path).catch((error: unknown) => {
    throw corrupt(path, "it cannot be opened", error);
  });
  const metadata = await parquetMetadataAsync(file).catch((error: unknown) => {
    throw corrupt(path, "its footer cannot be read", error);
  });
  const names = parquetSchema(metadata).children.map(({ element }) => element.name);
  const columns = savedColumns(path, names, options);
  return { columns: columns.own, records: recordsIn({ path, file, metadata, columns }, options) };
}

interface OpenedParquet {
  readonly path: string;
  readonly file: AsyncBuffer;
  readonly metadata: FileMetaData;
  readonly columns: SavedColumns;
}

async function* recordsIn(
  { path, file, metadata, columns }: OpenedParquet,
  { prefix }: SavedRowsOptions,
): AsyncGenerator<readonly EarlierRecord[]> {
  const { parquetReadObjects } = await loadReader();
  const names = [...columns.added.map((name) => prefix + name), ...columns.own];
  for (const { from: rowStart, to: rowEnd } of slices(metadata)) {
    const slice = { file, metadata, columns: names, rowStart, rowEnd };
    const rows = await parquetReadObjects(slice).catch((error: unknown) => {
      throw corrupt(path, `rows ${rowStart + 1} to ${rowEnd} cannot be read`, error);
    });
    yield rows.map((row) => {
      const values = names.map((name) => row[name] as unknown);
      return savedRecord(columns, values);
    });
  }
}
