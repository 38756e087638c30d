import { open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { FatalError } from "../core/errors.js";

/** Reads a part of a file. */
export async function readBytes(path: string, start: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(length);
  const handle = await open(path, "r");
  try {
    for (let read = 0; read < length;) {
      const { bytesRead } = await handle.read(buffer, read, length - read, start + read);
      if (bytesRead === 0) throw new FatalError("output_gone", `${path} has become shorter`);
      read += bytesRead;
    }
    return buffer;
  } finally {
    await handle.close();
  }
}

/** The CRC-32 of a file. */
export async function checksumOf(path: string): Promise<number> {
  let crc = 0;
  const handle = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return crc;
      crc = crc32(buffer.subarray(0, bytesRead), crc);
    }
  } finally {
    await handle.close();
  }
}

/** A CRC-32 as S3 writes it. */
export function encoded(crc: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc);
  return bytes.toString("base64");
}
