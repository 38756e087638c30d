import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { FatalError, ReputeError } from "../../core/errors.js";

/**
 * Decompresses gzip data with any number of members (RFC 1952, section 2.2). Ignores zeros after the
 * last member, which pad files on tapes and block devices. After an error, the last data before it may
 * be missing: zlib drops what it decompressed from the same chunk.
 *
 * @throws FatalError `input_gzip` with a byte offset in the compressed input
 */
export async function* gunzip(
  compressed: AsyncGenerator<Buffer>,
  name: string,
): AsyncGenerator<Buffer> {
  const inflater = createGunzip({ chunkSize: 65_536 });
  let fed = 0;
  /** Offset after the last byte that is not zero. */
  let filled = 0;
  const feeding = pipeline(async function* () {
    for await (const chunk of compressed) {
      const last = chunk.findLastIndex((byte) => byte !== 0);
      if (last >= 0) filled = fed + last + 1;
      fed += chunk.length;
      yield chunk;
    }
  }, inflater);
  // It also fails when the reader stops early.
  feeding.catch(() => undefined);
  try {
    yield* inflater.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    await feeding;
  } catch (error) {
    throw error instanceof ReputeError ? error : gzipError(name, fed, error as Error);
  } finally {
    inflater.destroy();
  }
  // zlib stops at the first zero after a member.
  if (filled > inflater.bytesWritten) throw garbage(name, `at byte ${inflater.bytesWritten}`);
}

export function notGzipError(name: string): FatalError {
  const message = `${name} is not gzip: its first bytes (from byte 0) are not a gzip header`;
  return new FatalError("input_gzip", message, {
    hint: "if it isn't compressed, rename it without .gz",
  });
}

function gzipError(name: string, fed: number, cause: NodeJS.ErrnoException): FatalError {
  // The first member has a header, so it is a later one that has none, or that comes after zeros.
  if (cause.message === "incorrect header check" || cause.code === "ERR_STREAM_PUSH_AFTER_EOF") {
    return garbage(name, `before byte ${fed}`, cause);
  }
  const message =
    cause.code === "Z_BUF_ERROR"
      ? `${name} is truncated or has trailing garbage: it ends at byte ${fed}, within gzip data`
      : `${name} is damaged: invalid gzip data before byte ${fed} (${cause.message})`;
  return new FatalError("input_gzip", message, { cause, hint: repairHint });
}

function garbage(name: string, where: string, cause?: Error): FatalError {
  const message = `${name} has trailing garbage: its gzip data ends ${where}`;
  return new FatalError("input_gzip", message, { cause, hint: repairHint });
}

const repairHint =
  "fetch or write the file again; `gzip -t FILE` checks it; to use the readable part: `zcat FILE | repute enrich`";
