import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError } from "../../core/errors.js";
import { formats } from "../../formats/registry.js";
import type { Counted, CountOptions, SinkFormat } from "../../formats/types.js";

export interface AuditOptions extends CountOptions {
  readonly format: SinkFormat;
  readonly gzip: boolean;
}

/** What an output really holds of a run. */
export interface Audit extends Counted {
  /** Bytes of the file; null for a database, which holds more than this run. */
  readonly bytes: number | null;
  /** SHA-256 of the file's bytes, hex; null for a database. */
  readonly sha256: string | null;
}

/**
 * Reads an output file from its first byte and counts its rows by status and verdict, or its
 * indicators.
 *
 * @throws FatalError `output_corrupt` when it holds a row whose status or verdict is unknown, or is
 * no bundle
 */
export async function auditOutput(path: string, options: AuditOptions): Promise<Audit> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = chunksOf(path, (chunk) => {
    hash.update(chunk);
    bytes += chunk.length;
  });
  const format = formats[options.format];
  const counter = format.count(options);
  const splitter = format.split();
  const count = async (chunks: AsyncIterable<Buffer>): Promise<void> => {
    for await (const chunk of chunks) {
      for (const record of splitter.push(chunk)) counter.add(record);
    }
  };
  if (options.gzip) await pipeline(copies(file), createGunzip(), count);
  else await count(file);
  if (splitter.end() !== null) {
    throw new FatalError("output_corrupt", `the output's last line is not whole`);
  }
  return { bytes, ...counter.counted(), sha256: hash.digest("hex") };
}

/**
 * The bytes of a file, all through two buffers, one of which is filled while the other is read.
 * A chunk is valid until the next one is taken.
 */
async function* chunksOf(path: string, visit: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  const handle = await open(path, "r");
  const fill = (buffer: Buffer): Promise<Buffer> => {
    const filled = handle
      .read(buffer, 0, buffer.length)
      .then(({ bytesRead }) => buffer.subarray(0, bytesRead));
    // A failed read is reported when its chunk is taken; until then it must not count as unhandled.
    filled.catch(() => undefined);
    return filled;
  };
  const [first, second] = [Buffer.allocUnsafe(chunkBytes), Buffer.allocUnsafe(chunkBytes)];
  let filling = fill(first);
  try {
    for (let next = second; ; next = next === first ? second : first) {
      const chunk = await filling;
      if (chunk.length === 0) return;
      filling = fill(next);
      visit(chunk);
      yield chunk;
    }
  } finally {
    await filling.catch(() => undefined);
    await handle.close();
  }
}

const chunkBytes = 256 * 1024;

/** A stream takes more than one chunk at a time. */
async function* copies(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(chunk);
}
