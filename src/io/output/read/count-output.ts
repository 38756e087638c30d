import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError } from "../../../core/errors.js";
import { hashFile } from "../../../core/files/file-hash.js";
import { RowCounter } from "../../../core/row.js";
import { formats } from "../../formats/registry.js";
import type { Counted, CountOptions, SinkFormat } from "../../formats/types.js";
import { outputFault } from "../output-fault.js";
import type { FileFormat } from "../types.js";

/** What an output holds of a run. */
export interface CountedOutput extends Counted {
  /** Size of the file; null for a table. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a table. */
  readonly sha256: string | null;
}

interface ReadingOptions extends CountOptions {
  readonly format: FileFormat;
  readonly gzip: boolean;
}

/** Reads a whole output file and counts its rows by status and verdict, or its indicators. */
export async function countOutput(
  path: string,
  { format, ...reading }: ReadingOptions,
): Promise<CountedOutput> {
  if (format === "parquet") return countParquet(path, reading);
  return countText(path, { format, ...reading }).catch((error: unknown) => {
    const { code, message } = error as Partial<NodeJS.ErrnoException>;
    const isDamaged = code === "output_corrupt";
    // Error codes of zlib, such as Z_BUF_ERROR at a premature end.
    if (!isDamaged && code?.startsWith("Z_") !== true) throw error;
    const what = isDamaged ? message : `its gzip data is damaged or cut off (${message})`;
    throw new FatalError("output_corrupt", `${path}: ${what}`, {
      cause: error,
      hint: "restore it from a copy, or run again",
    });
  });
}

async function countText(
  path: string,
  options: ReadingOptions & { readonly format: SinkFormat },
): Promise<CountedOutput> {
  const hash = createHash("sha256");
  let bytes = 0;
  const read = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      yield chunk as Buffer;
    }
  };
  const format = formats[options.format];
  const counter = format.count(options);
  const splitter = format.split();
  const count = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      for (const record of splitter.push(chunk)) counter.add(record);
    }
  };
  if (options.gzip) await pipeline(read, createGunzip(), count);
  else await count(read());
  if (splitter.end() !== null) {
    throw new FatalError("output_corrupt", "the last line of the output is incomplete");
  }
  return { bytes, ...counter.counted(), sha256: hash.digest("hex") };
}

/**
 * Reads a whole Parquet file: its footer, every row's status and verdict and, for the hash, every
 * byte.
 */
async function countParquet(
  path: string,
  { prefix }: { readonly prefix: string },
): Promise<CountedOutput> {
  const { bytes, sha256 } = await hashFile(path).catch((error: unknown) => {
    throw outputFault(path, error);
  });
  const { openParquetOutput } = await import("../parquet/output-rows.js");
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
  return { bytes, sha256, ...counter.found() };
}
