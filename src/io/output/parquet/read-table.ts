import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UsageError } from "../../../core/errors.js";
import { downloadObject } from "../download-object.js";
import type { TableReadOptions, TableReceiver } from "../../input/table-input.js";
import { parquetType } from "./input-types.js";
import { openFile, parquetRows } from "./parquet-file.js";

/**
 * Reads a Parquet file, row group by row group.
 *
 * @param name of the file in messages
 */
export async function readParquetTable(
  path: string,
  receiver: TableReceiver,
  { signal }: TableReadOptions,
  name = path,
): Promise<void> {
  if (!existsSync(path)) {
    throw new UsageError("input_not_found", `there is no file ${path}`, {
      hint: "check the path",
    });
  }
  const opened = await openFile(path, name);
  const { children } = opened.tree;
  await receiver.begin(
    children.map(({ element }) => element.name),
    children.map(parquetType),
  );
  for await (const rows of parquetRows(opened, { name })) {
    signal?.throwIfAborted();
    await receiver.rows(rows);
  }
}

/**
 * Reads a Parquet file in object storage, of which it makes a temporary copy: the columns of a row
 * group are spread over the file.
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
