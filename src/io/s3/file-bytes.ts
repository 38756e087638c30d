import { open } from "node:fs/promises";
import { FatalError } from "../../core/errors.js";
import { RunningChecksum } from "../../core/files/checksum.js";

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

export async function checksumOf(path: string): Promise<number> {
  const checksum = new RunningChecksum();
  const handle = await open(path, "r");
  try {
    await checksum.read(handle, Infinity);
    return checksum.state().crc;
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
