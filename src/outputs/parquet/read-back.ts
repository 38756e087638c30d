import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";
import type { AsyncBuffer, FileMetaData } from "hyparquet";
import { FatalError, UsageError } from "../../core/errors.js";
import { RowCounter } from "../../core/row.js";
import { outputFault } from "../output-fault.js";
import { loadDriver } from "../../core/load-driver.js";
import type { Audit } from "../audit-output.js";
import type { RunIdentity } from "../warehouse/types.js";

/**
 * Reads a whole Parquet file: its footer, every row's status and verdict and, for the hash, every
 * byte.
 * @throws FatalError `output_corrupt` if it cannot be read or a row has an unknown status or
 *   verdict; UsageError `not_an_output`
 */
export async function readBack(
  path: string,
  { prefix }: Omit<RunIdentity, "runId">,
): Promise<Audit> {
  const { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } = await loadDriver(
    "hyparquet",
    () => import("hyparquet"),
  );
  const [statusName, verdictName] = [`${prefix}status`, `${prefix}verdict`];
  const names = [statusName, verdictName];
  const hashes = await hashFile(path);
  let file: AsyncBuffer;
  let metadata: FileMetaData;
  try {
    file = await asyncBufferFromFile(path);
    metadata = await parquetMetadataAsync(file);
  } catch (error) {
    throw corrupt(path, "its footer cannot be read", error);
  }
  const missing = names.find((column) => !metadata.schema.some(({ name }) => name === column));
  if (missing !== undefined) {
    throw new UsageError("not_an_output", `${path} has no column ${missing}`, {
      hint: "name an output of repute; if its columns have another prefix than rep_, pass --prefix",
    });
  }
  const counter = new RowCounter();
  for (const { num_rows: size } of metadata.row_groups) {
    const rowStart = counter.rows;
    const rowEnd = rowStart + Number(size);
    const found = await parquetReadObjects({
      file,
      metadata,
      columns: names,
      rowStart,
      rowEnd,
    }).catch((error: unknown) => {
      throw corrupt(path, `its rows from ${rowStart + 1} to ${rowEnd} cannot be read`, error);
    });
    for (const record of found) {
      const fault = counter.count(record[statusName], record[verdictName] ?? null);
      if (fault !== null) throw corrupt(path, `row ${counter.rows} has ${fault}`);
    }
    if (counter.rows !== rowEnd) throw corrupt(path, `row ${counter.rows + 1} is missing`);
  }
  return { ...hashes, ...counter.found() };
}

async function hashFile(path: string): Promise<{ sha256: string; crc: number; bytes: number }> {
  const hash = createHash("sha256");
  let crc = 0;
  const file = createReadStream(path, { highWaterMark: 1024 * 1024 });
  try {
    for await (const chunk of file) {
      hash.update(chunk as Buffer);
      crc = crc32(chunk as Buffer, crc);
    }
  } catch (error) {
    throw outputFault(path, error);
  }
  return { sha256: hash.digest("hex"), crc, bytes: file.bytesRead };
}

/** The error for a Parquet file that cannot be read back. */
export function corrupt(path: string, what: string, cause?: unknown): FatalError {
  return new FatalError("output_corrupt", `${path} is damaged: ${what}`, { cause });
}
