import { createHash } from "node:crypto";
import * as fs from "node:fs/promises";
import { exportFault } from "../faults.js";

/** Result of writing a file. */
export interface WrittenFile {
  readonly bytes: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
}

/** Writes a new file piece by piece. Durable once resolved. */
export async function writeFile(
  path: string,
  pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<WrittenFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
      yield piece;
    }
  }
  try {
    await fs.writeFile(path, counted(), { flag: "wx", flush: true });
  } catch (error) {
    throw exportFault(path, error);
  }
  return { bytes, sha256: hash.digest("hex") };
}
