import { privateFile } from "./folders.js";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { outputFault } from "./system-fault.js";

/**
 * Writes a file of the run.
 *
 * @throws what `chunks` throws; FatalError `output_*` if the file cannot be written
 */
export async function writeChunks(
  path: string,
  chunks: AsyncIterable<Buffer | string>,
): Promise<void> {
  let failure: { readonly error: unknown } | null = null;
  const source = async function* () {
    try {
      yield* chunks;
    } catch (error) {
      failure = { error };
      throw error;
    }
  };
  await pipeline(source, createWriteStream(path, privateFile)).catch((error: unknown) => {
    throw failure === null ? outputFault(path, error) : (failure as { error: unknown }).error;
  });
}
