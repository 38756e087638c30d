import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ReputeError } from "../core/errors.js";
import { pinObject, readObject } from "../objects/read-object.js";
import { outputFault } from "./output-fault.js";

/** Copies an object to a file. @throws ReputeError */
export async function downloadObject(
  address: string,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const pinned = await pinObject(address);
  try {
    await pipeline(readObject(pinned, { signal }), createWriteStream(path, { mode: 0o600 }));
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ReputeError ? error : outputFault(path, error);
  }
}
