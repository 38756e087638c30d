import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { ReputeError } from "../../core/errors.js";
import { type PinnedObject, pinObject, readObject } from "../s3/read-object.js";
import { outputFault } from "./output-fault.js";

/** Copies an object to a file. @returns the version that it copied. */
export async function downloadObject(
  address: string,
  path: string,
  signal?: AbortSignal,
): Promise<PinnedObject> {
  const pinned = await pinObject(address);
  try {
    await pipeline(readObject(pinned, { signal }), createWriteStream(path, { mode: 0o600 }));
    return pinned;
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof ReputeError ? error : outputFault(path, error);
  }
}
