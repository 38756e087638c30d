import { FatalError } from "../../core/errors.js";
import { hashFile } from "../../core/files/file-hash.js";
import { RowCounter } from "../../core/row.js";
import { outputFault } from "../output-fault.js";
import { openParquetOutput } from "./output-rows.js";
import type { Audit } from "../types.js";

/**
 * Reads a whole Parquet file: its footer, every row's status and verdict and, for the hash, every
 * byte.
 */
export async function readBack(
  path: string,
  { prefix }: { readonly prefix: string },
): Promise<Audit> {
  const hashes = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const output = await openParquetOutput(path, { prefix, only: ["status", "verdict"] });
  const [status = -1, verdict = -1] = ["status", "verdict"].map((name) =>
    output.columns.findIndex((column) => column.name === prefix + name),
  );
  const counter = new RowCounter();
  for await (const rows of output.values(0)) {
    for (const row of rows) {
      const fault = counter.count(row[status], verdict < 0 ? undefined : row[verdict]);
      if (fault === null) continue;
      throw new FatalError(
        "output_corrupt",
        `${path} is damaged: row ${counter.rows} has ${fault}`,
      );
    }
  }
  return { ...hashes, ...counter.found() };
}
