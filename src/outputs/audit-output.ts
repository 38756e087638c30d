import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { crc32, createGunzip } from "node:zlib";
import { FatalError } from "../core/errors.js";
import { formats } from "../formats/registry.js";
import type { CountOptions, SinkFormat } from "../formats/types.js";
import type { Audit, PartFormat } from "./types.js";

interface AuditOptions extends CountOptions {
  readonly format: PartFormat;
  readonly gzip: boolean;
}

/** Reads a whole output file and counts its rows by status and verdict, or its indicators. */
export async function auditOutput(
  path: string,
  { format, ...reading }: AuditOptions,
): Promise<Audit> {
  if (format === "parquet")
    return (await import("./parquet/output-rows.js")).readBack(path, reading);
  return countOutput(path, { format, ...reading }).catch((error: unknown) => {
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

async function countOutput(
  path: string,
  options: AuditOptions & { readonly format: SinkFormat },
): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  let crc = 0;
  const read = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 })) {
      hash.update(chunk as Buffer);
      crc = crc32(chunk as Buffer, crc);
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
  return { bytes, crc, ...counter.counted(), sha256: hash.digest("hex") };
}
