import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { FatalError, UsageError } from "../../core/errors.js";
import { findingStatuses } from "../../core/finding.js";
import type { FindingStatus } from "../../core/finding.js";
import { outputFault } from "../output-fault.js";
import { loadDriver } from "../warehouse/load-driver.js";
import type { WarehouseAudit } from "../warehouse/types.js";

/**
 * Reads a whole Parquet file: its end, the status of every row and, for the hash, every byte.
 *
 * @throws FatalError `output_corrupt` when it holds a row without a known status or cannot be read;
 * UsageError `not_an_output`
 */
export async function readBack(path: string, statusColumn: string): Promise<WarehouseAudit> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await loadDriver(
    "hyparquet",
    () => import("hyparquet"),
  );
  const statuses = Object.fromEntries(findingStatuses.map((status) => [status, 0])) as Record<
    FindingStatus,
    number
  >;
  const { sha256, bytes } = await hashFile(path);
  let file: AsyncBuffer;
  let metadata: FileMetaData;
  try {
    file = await asyncBufferFromFile(path);
    metadata = await parquetMetadataAsync(file);
  } catch (error) {
    throw corrupt(path, "its end cannot be read", error);
  }
  if (!metadata.schema.some(({ name }) => name === statusColumn)) {
    throw new UsageError("not_an_output", `${path} has no column ${statusColumn}`, {
      hint: "name an output of repute; columns that begin otherwise than rep_ need --prefix",
    });
  }
  let rows = 0;
  for (const { num_rows: size } of metadata.row_groups) {
    const rowEnd = rows + Number(size);
    const found = await parquetReadObjects({
      file,
      metadata,
      columns: [statusColumn],
      rowStart: rows,
      rowEnd,
    }).catch((error: unknown) => {
      throw corrupt(path, `its rows from ${rows + 1} on cannot be read`, error);
    });
    for (const record of found) {
      const status = record[statusColumn] as FindingStatus;
      if (!Object.hasOwn(statuses, status)) throw corrupt(path, `row ${rows + 1} has no status`);
      statuses[status]++;
      rows++;
    }
    if (rows !== rowEnd) throw corrupt(path, `row ${rows + 1} is not there`);
  }
  return { bytes, rows, statuses, sha256 };
}

async function hashFile(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
  } catch (error) {
    throw outputFault(path, error);
  }
  return { sha256: hash.digest("hex"), bytes };
}

function corrupt(path: string, what: string, cause?: unknown): FatalError {
  return new FatalError("output_corrupt", `${path} is not as it was written: ${what}`, { cause });
}
