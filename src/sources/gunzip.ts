import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError, ReputeError } from "../core/errors.js";
import type { Warnings } from "./warnings.js";

/** Whether bytes begin as gzip data does (RFC 1952, section 2.3.1: ID1, ID2). */
export function looksGzipped(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/**
 * The decompressed bytes of gzip data, however many members it has (RFC 1952, section 2.2).
 * As gzip(1) does, it ignores what follows the last member: zeros are padding, anything else is a
 * warning.
 *
 * @throws FatalError `input_gzip` naming the place in the compressed input
 */
export async function* gunzip(
  compressed: AsyncGenerator<Buffer>,
  name: string,
  warnings: Warnings,
): AsyncGenerator<Buffer> {
  const inflater = createGunzip({ chunkSize: 65_536 });
  let fed = 0;
  let lastNonZero = -1;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of compressed) {
      const within = lastNonZeroOf(chunk);
      if (within >= 0) lastNonZero = fed + within;
      fed += chunk.length;
      yield chunk;
    }
  }
  const feeding = pipeline(counted(), inflater);
  // Its failure is that of the inflater, which the loop below meets.
  feeding.catch(() => {});
  try {
    // Destroyed at the last member's end it could not be fed what comes behind.
    for await (const chunk of inflater.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
    await feeding;
  } catch (error) {
    if (error instanceof ReputeError) throw error;
    throw gzipError(name, inflater.bytesWritten, fed, error);
  } finally {
    inflater.destroy();
  }
  if (lastNonZero >= inflater.bytesWritten) {
    warnings.add(
      `${name}: trailing garbage after the gzip data (from byte ${inflater.bytesWritten}) is ignored`,
    );
  }
}

/** The error of an input that is called gzip and does not begin as such. */
export function notGzipError(name: string): FatalError {
  const message = `${name} is no gzip file: its first bytes (from byte 0) are not those of gzip data`;
  return new FatalError("input_gzip", message, {
    hint: "If it is not compressed, give it a name without .gz.",
  });
}

const repairHint =
  "Fetch or write the file again; `gzip -t FILE` tells whether it is whole. What can still be read: `zcat FILE | repute enrich`.";

function gzipError(name: string, done: number, fed: number, cause: unknown): FatalError {
  const truncated = cause instanceof Error && "code" in cause && cause.code === "Z_BUF_ERROR";
  const what = cause instanceof Error ? cause.message : String(cause);
  const message = truncated
    ? `${name} is cut off: its gzip data ends in the middle, at byte ${fed}`
    : `${name} is damaged: bad gzip data after byte ${done} (${what})`;
  return new FatalError("input_gzip", message, { cause, hint: repairHint });
}

function lastNonZeroOf(chunk: Buffer): number {
  let at = chunk.length - 1;
  while (at >= 0 && chunk[at] === 0) at -= 1;
  return at;
}
