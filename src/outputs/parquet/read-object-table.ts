import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { downloadObject } from "../download-object.js";
import type { TableReadOptions, TableReceiver } from "../tables/types.js";
import { readParquetTable } from "./read-table.js";

/**
 * Reads a Parquet file in object storage, of which it makes a temporary copy: the columns of a row
 * group are spread over the file.
 *
 * @throws as `downloadObject` and `readParquetTable`
 */
export async function readParquetObject(
  address: string,
  receiver: TableReceiver,
  options: TableReadOptions,
): Promise<void> {
  const { signal } = options;
  const own = options.folder === undefined ? await mkdtemp(join(tmpdir(), "repute-")) : null;
  const path = join(own ?? options.folder ?? "", "input.parquet");
  try {
    await downloadObject(address, path, signal);
    await readParquetTable(path, receiver, options, address);
  } finally {
    await rm(own ?? path, { recursive: true, force: true });
  }
}
