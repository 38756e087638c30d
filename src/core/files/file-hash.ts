import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { crc32 } from "node:zlib";

interface FileHash {
  readonly bytes: number;
  readonly crc: number;
  readonly sha256: string;
}

/**
 * Computes the size and checksums of a file.
 * @param take called with each chunk
 * @throws the system's error
 */
export function hashFile(path: string, take?: (chunk: Buffer) => Promise<void>): Promise<FileHash> {
  return hashBytes(createReadStream(path, { highWaterMark: 256 * 1024 }), take);
}

async function hashBytes<T extends Uint8Array>(
  chunks: AsyncIterable<T> | Iterable<T>,
  take?: (chunk: T) => Promise<void>,
): Promise<FileHash> {
  const hash = createHash("sha256");
  let bytes = 0;
  let crc = 0;
  for await (const chunk of chunks) {
    hash.update(chunk);
    crc = crc32(chunk, crc);
    bytes += chunk.length;
    await take?.(chunk);
  }
  return { bytes, crc, sha256: hash.digest("hex") };
}
