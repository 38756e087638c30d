import { writeSync } from "node:fs";

/**
 * Writes all bytes at a position of a file. The system may take a part of them, and says why it takes
 * no more only when it is asked again.
 *
 * @throws what the file system says
 */
export function writeWhole(
  file: number,
  bytes: NodeJS.ArrayBufferView,
  length: number,
  position: number,
): void {
  for (let done = 0; done < length;) {
    const written = writeSync(file, bytes, done, length - done, position + done);
    if (written === 0) throw Object.assign(new Error("nothing was written"), { code: "ENOSPC" });
    done += written;
  }
}
