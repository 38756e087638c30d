import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { crc32, createGunzip } from "node:zlib";
import { FatalError } from "../core/errors.js";
import { formats } from "../formats/registry.js";
import type { CountOptions, SinkFormat } from "../formats/types.js";
import type { Audit, PartFormat } from "./types.js";

/** How an output is read. */
interface AuditOptions extends CountOptions {
  readonly format: PartFormat;
  readonly gzip: boolean;
}

/**
 * Reads a whole output file and counts its rows by status and verdict, or its indicators.
 *
 * @throws FatalError `output_corrupt` if a row has an unknown status or verdict, or a file is
 *   malformed; what reading fails with
 */
export async function auditOutput(
  path: string,
  { format, ...reading }: AuditOptions,
): Promise<Audit> {
  if (format === "parquet") return (await import("./parquet/read-back.js")).readBack(path, reading);
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
    const handle = await open(path, "r");
    const buffer = Buffer.allocUnsafeSlow(256 * 1024);
    try {
      for (;;) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length);
        if (bytesRead === 0) return;
        const chunk = buffer.subarray(0, bytesRead);
        hash.update(chunk);
        crc = crc32(chunk, crc);
        bytes += bytesRead;
        // Copy: streams queue several chunks, and the next read overwrites this buffer.
        yield options.gzip ? Buffer.from(chunk) : chunk;
      }
    } finally {
      await handle.close();
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
