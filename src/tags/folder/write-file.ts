import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { exportFault } from "./export-fault.js";

/** What a file came to. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** Writes a new file piece by piece, durable when it resolves. */
export async function writeFile(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    const handle = await open(path, "wx");
    try {
      for await (const piece of pieces) {
        hash.update(piece);
        let done = 0;
        while (done < piece.length) {
          done += (await handle.write(piece, done, piece.length - done)).bytesWritten;
        }
        bytes += piece.length;
      }
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw exportFault(path, error);
  }
  return { bytes, sha256: hash.digest("hex") };
}
