import type { FileHandle } from "node:fs/promises";

/** The bytes under an array of words, in the machine's order; not a copy. */
export function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/**
 * Fills `bytes` from a file, from `position` on.
 *
 * @returns whether the file had that many
 */
export async function readFully(
  handle: FileHandle,
  bytes: Uint8Array,
  position: number,
): Promise<boolean> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done);
    if (bytesRead === 0) return false;
    done += bytesRead;
  }
  return true;
}
