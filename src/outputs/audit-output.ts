import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { crc32, createGunzip } from "node:zlib";
import { FatalError } from "../core/errors.js";
import { formats } from "../formats/registry.js";
import type { Counted, CountOptions, SinkFormat } from "../formats/types.js";
import type { PartRecord } from "./types.js";

export interface AuditOptions extends CountOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
}

/** What an output holds of a run. */
export interface Audit extends Counted {
  /** CRC-32 of the file, where one was read. */
  readonly crc?: number;
  /** Size of the file; null for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** SHA-256 of the file, hex; null for a database. */
  readonly sha256: string | null;
  /** Of a data set: its files. */
  readonly parts?: readonly PartRecord[];
}

/**
 * Reads a whole output file and counts its rows by status and verdict, or its indicators.
 *
 * @throws FatalError `output_corrupt` if a row has an unknown status or verdict, or a bundle is
 *   malformed
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  return countOutput(path, options).catch((error: unknown) => {
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

async function countOutput(path: string, options: AuditOptions): Promise<Audit> {
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
